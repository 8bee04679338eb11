// node validate.mjs FOLDER <MANIFESTS: what the JSON schemas of Kubernetes say of each YAML
// document, as JSON: [{"document": …, "mistakes": ["/spec/replicas: must be number", …]}, …].
// FOLDER is where package.json is installed.
//
// The compiled schemas (npm kubernetes-models) say nothing of fields that they don't know; but they
// look at each field that they do. So a field that nobody has looked at is unknown, and most likely
// misspelt.

import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const require = createRequire(path.join(path.resolve(process.argv[2]), "package.json"));
const { parseAllDocuments } = require("yaml");

const looked = new WeakMap(); // object -> the names of its fields that were looked at

function watched(value) {
  if (typeof value !== "object" || value === null) return value;
  const names = looked.get(value) ?? new Set();
  looked.set(value, names);
  return new Proxy(value, {
    get(target, name) {
      names.add(name);
      return watched(target[name]);
    },
  });
}

function unknownFields(value, where) {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const here = `${where}/${name}`;
    const known = Array.isArray(value) || looked.get(value)?.has(name);
    return known ? unknownFields(inner, here) : [`${here}: unknown field`];
  });
}

function schemaOf({ apiVersion, kind }) {
  const folder = apiVersion === "v1" ? "v1" : String(apiVersion);
  try {
    return require(`kubernetes-models/${folder}`)[kind];
  } catch (error) {
    if (error.code === "ERR_PACKAGE_PATH_NOT_EXPORTED") return undefined;
    throw error;
  }
}

function mistakesOf(document) {
  const schema = schemaOf(document);
  if (!schema) return [`no schema for ${document.apiVersion} ${document.kind}`];
  const told = [];
  try {
    schema.prototype.validate.call(watched(document));
  } catch (error) {
    if (!Array.isArray(error.errors)) throw error; // no ValidateError
    told.push(...error.errors.map(({ instancePath, message }) => `${instancePath}: ${message}`));
  }
  return [...told, ...unknownFields(document, "")];
}

const results = parseAllDocuments(fs.readFileSync(0, "utf8"), { version: "1.1" }).map((parsed) => {
  if (parsed.errors.length > 0) throw parsed.errors[0];
  const document = parsed.toJS();
  return { document, mistakes: mistakesOf(document) };
});
process.stdout.write(JSON.stringify(results));
