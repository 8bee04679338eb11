// The differential test: sends generated streams through Ringside to an origin and compares three
// readings of them: that of Ringside's parsers (an oracle program), that of the origin's, and the
// answers that came back. tests/end_to_end/differential_test.py runs it.
//
//   node compare.js --oracle PROGRAM --requests N --seed N [--seconds N] [--only STREAM] [--at-once N]
//
// It prints `origin PORT`, reads a line `HOST:PORT` (where Ringside is) and ends with 0, or with 1
// after printing what it found. After --seconds it stops where it is. `--only` sends one stream of a seed and prints its bytes.

'use strict';

const { spawn } = require('child_process');
const readline = require('readline');
const { parseArgs } = require('util');

const { converse } = require('./conversation.js');
const { Origin, knows } = require('./origin.js');
const { makeStream } = require('./streams.js');

const FINDINGS_SHOWN = 20;

// What Ringside writes itself; the rest arrives as it was sent, in its order.
const REWRITTEN = new Set(['host', 'content-length', 'transfer-encoding', 'via', 'forwarded', 'x-forwarded-for', 'x-forwarded-proto',
                           'x-country', 'surrogate-capability', 'expect', 'connection']);

class Oracle {
  constructor(program) {
    this.child = spawn(program, [], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.waiting = [];
    readline.createInterface({ input: this.child.stdout }).on('line', (line) => this.waiting.shift()(JSON.parse(line)));
    this.child.on('exit', (code) => {
      if (this.waiting.length > 0) throw new Error(`the oracle ended with ${code}`);
    });
  }
  read(bytes) {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(bytes.length);
    this.child.stdin.write(size);
    this.child.stdin.write(Buffer.from(bytes, 'latin1'));
    return new Promise((resolve) => this.waiting.push(resolve));
  }
  end() { this.child.stdin.end(); }
}

const COMMON = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);

// Ringside writes these in one form (http/canonical_field.h), so that their case, their empty members
// and the spaces around their semicolons are not passed on.
const CANONICAL = new Set(['accept', 'accept-charset', 'accept-encoding', 'accept-language']);

function inOneForm(key, value) {
  const members = value.split(',').map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''));
  if (!CANONICAL.has(key)) return members.join(',');
  return members.filter((member) => member !== '').map((member) => member.toLowerCase().replace(/[ \t]*;[ \t]*/g, ';')).join(',');
}

// Lines of one name may be combined, and spaces around commas mean nothing (RFC 9110 §5.3, §5.6.1).
function passedOn(fields) {
  const combined = new Map();
  for (const [name, value] of fields) {
    const key = name.toLowerCase();
    if (REWRITTEN.has(key)) continue;
    const before = combined.get(key);
    combined.set(key, before ? [before[0], `${before[1]},${value}`] : [name, value]);
  }
  return [...combined].map(([key, [name, value]]) => [name, inOneForm(key, value)]);
}

function pairs(raw) {
  const fields = [];
  for (let i = 0; i < raw.length; i += 2) fields.push([raw[i], raw[i + 1]]);
  return fields;
}

function values(fields, wanted) {
  return fields.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
}

// What the origin understood, in the oracle's terms.
function asTold(seen) {
  const fields = pairs(seen.fields);
  return {
    method: seen.method,
    target: seen.target,
    version: seen.version,
    host: values(fields, 'host'),
    lengths: values(fields, 'content-length'),
    codings: values(fields, 'transfer-encoding'),
    fields: passedOn(fields),
    body: seen.body,
  };
}

function asExpected(told) {
  return {
    method: told.method,
    target: told.target,
    version: '1.1',
    host: [told.host],
    lengths: told.framing === 'length' ? [String(told.body.length)] : [],
    codings: told.framing === 'chunked' ? ['chunked'] : [],
    fields: passedOn(told.fields),
    body: told.body,
  };
}

class Comparison {
  constructor(door, origin, oracle, seed) {
    Object.assign(this, { door, origin, oracle, seed });
    this.findings = [];
    this.tally = { streams: 0, requests: 0, accepted: 0, refused: 0, cut: 0, limited: 0 };
    this.refusals = new Map();
  }

  find(stream, what) {
    this.findings.push(`stream ${stream.number} of seed ${this.seed}: ${what}`);
  }

  async run(stream) {
    const told = await this.oracle.read(stream.bytes);
    const methods = [...told.requests.map((request) => request.method), told.method];
    const { answers, fault, raw } = await converse(this.door, stream, methods, told.end === 'cut' ? told.requests.length : Infinity);
    this.count(told);
    if (fault) this.find(stream, `${fault}; answered ${JSON.stringify(raw.slice(-600))}`);
    for (const [i, request] of told.requests.entries()) {
      const answer = answers[i];
      if (answer && answer.status === 502 && !knows(request.method)) {
        // The origin's parser doesn't know the method. What it left unread may end the connection.
        if (answer.fields.get('connection') !== 'close') continue;
        if (answers.length > i + 1) this.find(stream, `answers behind the last: ${answers.length - i - 1}`);
        return;
      }
      if (answer && answer.status === 429 && !COMMON.has(request.method)) {
        // A client may use rare methods now and then only.
        this.tally.limited += 1;
        if (answer.fields.get('connection') !== 'close') continue;
        if (answers.length > i + 1) this.find(stream, `answers behind the last: ${answers.length - i - 1}`);
        return;
      }
      this.compare(stream, request, answer, i);
    }
    this.compareEnd(stream, told, answers.slice(told.requests.length));
  }

  count(told) {
    this.tally.streams += 1;
    this.tally.requests += told.requests.length;
    this.tally.accepted += told.requests.length;
    if (told.end === 'refused') {
      this.tally.requests += 1;
      this.tally.refused += 1;
      this.refusals.set(told.why, (this.refusals.get(told.why) || 0) + 1);
    }
    if (told.end === 'cut') this.tally.cut += 1;
  }

  compare(stream, request, answer, i) {
    if (!answer) return this.find(stream, `no answer to request ${i}, ${request.method} ${request.target}`);
    const number = Number(answer.fields.get('x-seen'));
    const seen = this.origin.seen.get(number);
    this.origin.seen.delete(number);
    if (!seen) return this.find(stream, `request ${i} was answered ${answer.status} without the origin`);
    const arrived = JSON.stringify(asTold(seen));
    const expected = JSON.stringify(asExpected(request));
    if (arrived !== expected) this.find(stream, `request ${i} was ${expected} and arrived as ${arrived}`);
    return undefined;
  }

  // What comes behind the answers to the requests that the oracle saw.
  compareEnd(stream, told, rest) {
    const more = rest.map((answer) => answer.status);
    if (told.end === 'refused') {
      const answer = rest[0];
      const limited = answer && answer.status === 429 && !COMMON.has(told.method);
      // The origin may have ended the connection at the method, before the body was found wrong.
      const unknown = answer && answer.status === 502 && !knows(told.method);
      const right = rest.length === 1 && (limited || unknown || answer.status === told.status) && !answer.fields.has('x-seen') &&
                    answer.fields.get('connection') === 'close';
      if (!right) this.find(stream, `a refusal (${told.status}, ${told.why}) was answered ${more}`);
    } else if (told.end === 'cut') {
      const right = rest.length === 0 || (rest.length === 1 && [400, 408].includes(rest[0].status));
      if (!right) this.find(stream, `a request cut short was answered ${more}`);
    } else if (rest.length > 0) {
      this.find(stream, `answers to nothing: ${more}`);
    }
  }

  // What the origin saw and nobody was told of.
  settle() {
    for (const seen of this.origin.seen.values()) {
      this.findings.push(`the origin saw ${JSON.stringify(asTold(seen))}, which nobody was answered`);
    }
    for (const refusal of this.origin.refusals) this.findings.push(`the origin refused what we forwarded: ${refusal}`);
  }
}

async function runAll(comparison, requests, seconds, atOnce) {
  let number = 0;
  const until = Date.now() + seconds * 1000;
  let told = Date.now();
  const goOn = () => comparison.tally.requests < requests && comparison.findings.length < FINDINGS_SHOWN && Date.now() < until;
  const worker = async () => {
    while (goOn()) {
      await comparison.run(makeStream(comparison.seed, number++));
      if (Date.now() - told < 10000) continue;
      told = Date.now();
      process.stderr.write(`${comparison.tally.requests} requests, ${comparison.findings.length} findings\n`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

function report(comparison, started) {
  comparison.findings.slice(0, FINDINGS_SHOWN).forEach((finding) => console.log(finding));
  const { streams, requests, accepted, refused, cut } = comparison.tally;
  console.log(`seed ${comparison.seed}: ${requests} requests in ${streams} connections, ${accepted} accepted, ` +
              `${refused} refused for ${comparison.refusals.size} reasons, ${cut} cut short, ` +
              `${comparison.tally.limited} told 429, ` +
              `${comparison.origin.count} seen by the origin; ${comparison.findings.length} findings; ` +
              `${((Date.now() - started) / 1000).toFixed(1)} s`);
}

async function main() {
  const { values: options } = parseArgs({
    options: {
      oracle: { type: 'string' }, requests: { type: 'string' }, seed: { type: 'string' },
      seconds: { type: 'string', default: '86400' }, only: { type: 'string' }, 'at-once': { type: 'string', default: '32' },
    },
  });
  const origin = new Origin();
  console.log(`origin ${await origin.listen()}`);
  const [line] = await new Promise((resolve) => {
    readline.createInterface({ input: process.stdin }).once('line', (text) => resolve([text.trim()]));
  });
  const split = line.lastIndexOf(':');
  const door = { host: line.slice(0, split), port: Number(line.slice(split + 1)) };
  const oracle = new Oracle(options.oracle);
  const comparison = new Comparison(door, origin, oracle, Number(options.seed));
  const started = Date.now();
  if (options.only === undefined) {
    await runAll(comparison, Number(options.requests), Number(options.seconds), Number(options['at-once']));
  } else {
    const stream = makeStream(comparison.seed, Number(options.only));
    console.log(JSON.stringify(stream));
    console.log(JSON.stringify(await oracle.read(stream.bytes), null, 1));
    await comparison.run(stream);
  }
  comparison.settle();
  oracle.end();
  report(comparison, started);
  if (options.only === undefined && comparison.refusals.size > 0 && process.env.RINGSIDE_DIFFERENTIAL_REASONS) {
    console.log([...comparison.refusals].sort((a, b) => b[1] - a[1]).map(([why, n]) => `${n} ${why}`).join('\n'));
  }
  process.exit(comparison.findings.length === 0 ? 0 : 1);
}

main();
