// Streams of pipelined requests on the border of the grammar: what one client sends on one
// connection. Everything follows from (seed, number), so that any of them can be made again.
// Strings are bytes (Latin-1).

'use strict';

// Mulberry32: small, fast, and the same everywhere.
class Chance {
  constructor(seed, number) {
    this.state = (seed ^ Math.imul(number + 1, 0x9e3779b1)) >>> 0;
  }
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }
  below(n) { return this.next() % n; }
  of(list) { return list[this.below(list.length)]; }
  // True in so many of a thousand cases.
  often(permille) { return this.below(1000) < permille; }
  bytes(most) {
    let out = '';
    for (let left = this.below(most + 1); left > 0; --left) out += String.fromCharCode(this.below(256));
    return out;
  }
}

// The independent parser knows methods by name; these it has.
const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'POST', 'POST', 'PUT', 'DELETE', 'PATCH',
                 'OPTIONS', 'PROPFIND', 'REPORT', 'M-SEARCH'];
const BAD_METHODS = ['', ' GET', 'G\0T', 'GE\tT', 'GET\r', 'G@T', '"GET"', 'GET:', 'CONNECT', 'TRACE', 'G\xc9T'];

const TARGET_ENDS = ['', '', '', '', '?', '?a=b', '?a=%zz&b=%', '?"<>\\^`{|}', '/a/../b', '/%2e%2E/c',
                     '/%41%7e%2f%5C', '/%c3%a9', '/\xc3\xa9', '/"<>[]\\^`{|}', '/;p=1,2', '//', '/.', '/..',
                     '?/../?', '/a:b@c', "/!$&'()*+,=", '?\xff\xfe', '/%7F%0a%0D', '?%00', '/*', '?%0d%0aX:%20y'];
const BAD_TARGET_ENDS = ['#', '#a', '/%', '/%0', '/%zz', '/%00', ' ', ' x', '\t', '\x7f', '\x01', '\0', '\r', '\n',
                         ' HTTP/1.1\r\nX: y', '\x0b', '\x0c'];
const TARGET_STARTS = ['', '', '', 'http://b.example', 'HTTP://B.example:80', 'https://b.example:443', 'http://[::1]:8080',
                       'http://b.example.', '//c.example', '/.', '/%2e', '/a/%2E%2e'];
const BAD_TARGET_STARTS = ['*', 'ftp://b.example', 'http:', 'http:/', 'http:///', 'http://u@b.example', 'http://b.example:x',
                           'http://b..example', 'http://b example', '?', 'b.example:80', 'http://[::1', '\\', ' '];
const BAD_VERSIONS = ['HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.10', 'HTTP/01.1', 'http/1.1', 'HTTP/1,1', 'HTTP/11',
                      'HTTP/1.', 'HTTP/1.1 ', ' HTTP/1.1', 'HTTPS/1.1', 'HTTP/1.1\t', '', 'HTTP/1.1x', 'HTTP/ 1.1'];

const HOSTS = ['a.example', 'A.Example', 'a.example:80', 'a.example:8080', 'a.example.', '127.0.0.1', '[::1]', '[2001:DB8::1]:81',
               'a_b-c~d', 'a.example:'];
const BAD_HOSTS = ['', 'a b', 'a/b', 'a,b', 'u@a', 'a:x', 'a:99999', 'a..b', '.a', '[::1', '[a]', 'a\0', 'a\t b', 'a;b',
                   'a%20b', 'a\xc3\xa9', 'a?b', 'a#b', 'a\\b', '[::1]a'];

const LINE_ENDS = ['\n', '\r', '\r\r\n', '\n\r', '\r\n ', '\r\n\t', ' \r\n', '\t\r\n', '\0\r\n', '', '\r\n\r\n', '\x0b\r\n', '\x85\r\n'];

// Whole field lines, right ones and wrong ones.
const LINES = ['X-Empty:', 'X-Space: \t a \t ', 'X-Text: \xe9\xff "quoted, \\" text"; a=b', 'Cookie: a=b; c="d"', 'Accept: */*',
               'TE: trailers', 'TE: chunked', 'Trailer: Content-Length', 'Keep-Alive: timeout=5', 'Proxy-Connection: keep-alive',
               'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA', 'Connection: Upgrade, HTTP2-Settings',
               'Connection: keep-alive', 'Connection: X-Text, X-Empty', 'Connection: Content-Length', 'Connection: Transfer-Encoding',
               'Connection: Host', 'Connection: ,,', 'Connection: "close"', 'Expect: 100-continue', 'Expect: other',
               'Ringside-Topology: 0', 'Ringside-Extra-Key: x', 'X-Country: XX', 'X-Forwarded-For: 1.2.3.4', 'Forwarded: for=1.2.3.4',
               'Forwarded: for="', 'Content-Encoding: chunked', 'Transfer_Encoding: chunked', 'X-Transfer-Encoding: chunked',
               'Content-Lengthy: 5', 'Content_Length: 5', "!#$%&'*+-.^_`|~: x", 'Proxy-Authorization: x', 'Via: 1.0 x (y, z), 1.1 w'];
const BAD_LINES = [': a', ' X: a', '\tX: a', 'X : a', 'X\t: a', 'X a: b', 'X', 'X\0: a', 'X: a\0b', 'X: a\x01', 'X: \x7f', 'X: a\rb',
                   'X: a\nb', 'X(: a', '"X": a', 'X\xe9: a', 'X: a\r\n b', 'X: a\r\n\tb', 'X: a\n b', 'X: a\r b', '\0', '=: a',
                   'Host: b.example', 'X: \x1b[0m', 'X:a\x0bb', 'X[]: a', 'X: a\r\r', 'Host : b', 'X\r\n: a', '{X}: a', 'X/Y: a', 'X,Y: a'];

const LENGTH_SPELLINGS = [(n) => ` ${n}`, (n) => `${n}`, (n) => `\t ${n} \t`, (n) => ` 00${n}`];
const BAD_LENGTHS = [(n) => `+${n}`, (n) => `-${n}`, (n) => `0x${n.toString(16)}`, (n) => `${n},${n}`, (n) => `${n}, ${n}`, () => '',
                     () => ' ', (n) => `${n}.0`, (n) => `${n} ${n}`, (n) => `"${n}"`, (n) => `${n};`, (n) => `${n},`, (n) => `,${n}`,
                     (n) => `${n}\0`, (n) => `${n}\x0b`, () => '18446744073709551616', (n) => `1844674407370955161${n}`,
                     (n) => `${n}e0`, (n) => `${n}_0`, (n) => `0${n}h`, (n) => `\xb2`, (n) => `${n}\r\n ${n}`];
const CODINGS = ['chunked', ' chunked', '\tchunked\t', ' CHUNKED', ' Chunked '];
const BAD_CODINGS = [' xchunked', ' chunke', ' chunked, chunked', ' chunked,', ' ,chunked', ' identity', ' identity, chunked',
                     ' gzip, chunked', ' chunked, gzip', ' chunked, identity', '', ' ', ' \x0bchunked', ' chunked\x0b', ' "chunked"',
                     ' chunked;a=b', ' chunked;', ' chunk\0ed', " 'chunked'", ' chun ked', ' chunked\r\n , identity', '\r\n chunked',
                     ' \x00chunked', ' \xe3chunked', ' chunked\xa0', ' x;q="a, chunked"', ' chunked chunked'];

const CHUNK_ENDS = ['\n', '\r', '\r\r\n', '', '\n\r', ' \r\n', '\t\r\n', '\0\r\n'];
const EXTENSIONS = [';a', ';a=b', ';a="b;c\\"d\r"'.replace('\r', ''), '; a = b', ';a=b;c="\t\xff"', ';a ;b'];
const BAD_EXTENSIONS = [';', ';;', ' ', ' ;a', ';a=', ';a="b', ';a=b c', ';\0', ';a\n', ';a=\x01', ';a="\n"', ',a', ';a="b"c', ';=b', ';a\rb',
                        ';\r', ';a="\r\n"'];
const TRAILERS = ['X-Trailer: a\r\n', 'Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n', 'Host: evil\r\n', 'A:\r\nB: \xff\r\n'];
const BAD_TRAILERS = ['X\r\n', ': a\r\n', ' X: a\r\n', 'X : a\r\n', 'X: a\n', 'X: a\r', 'X: \0\r\n', 'X: a\r\n b\r\n', 'X\n: a\r\n', '\n'];
const BAD_SIZES = [(n) => `+${n}`, (n) => `-${n}`, (n) => `0x${n}`, (n) => ` ${n}`, () => '', (n) => `0000000000000000${n}`, () => 'g',
                   () => '10000000000000000', (n) => `${n}h`, (n) => `${n},`, (n) => `${n}.`, (n) => `\0${n}`, (n) => `${n} ${n}`];

// Single bytes that readers differ about.
const BYTES = [...'\0\x01\t\n\x0b\x0c\r\x1b "#%(),/:;<=>?@[\\]{}\x7f\x80\x85\xa0\xff01aFgZ+-._~*'];

// A body that would be a request if it were read as one.
function hidden(id) {
  return `GET /smuggled-${id} HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\n\r\nabc`;
}

function bodyFor(chance, id) {
  switch (chance.below(6)) {
    case 0: return '';
    case 1: return hidden(id);
    case 2: return `0\r\n\r\n${hidden(id)}`;
    case 3: return `5\r\nhello\r\n0\r\n\r\n${hidden(id)}`;
    case 4: return chance.bytes(chance.often(30) ? 40000 : 60);
    default: return 'abc'.repeat(chance.below(20));
  }
}

function chunkSize(chance, size, odd) {
  if (odd && chance.often(250)) return chance.of(BAD_SIZES)(size.toString(16));
  const digits = size.toString(16);
  if (chance.often(100)) return digits.toUpperCase();
  return chance.often(60) ? `000${digits}` : digits;
}

// At most one thing of a chunked body is wrong, so that each rule is met alone.
function chunked(chance, body, odd) {
  const parts = [];
  for (let at = 0; at < body.length;) {
    const size = 1 + chance.below(chance.often(200) ? 8 : body.length);
    parts.push(body.slice(at, at + size));
    at += size;
  }
  parts.push('');
  const wrong = odd ? chance.below(parts.length) : -1;
  let out = '';
  parts.forEach((part, i) => {
    const kind = i === wrong ? chance.below(5) : -1;
    out += chunkSize(chance, part.length + (kind === 0 ? chance.below(5) - 2 : 0), kind === 1);
    if (kind === 2) out += chance.of(BAD_EXTENSIONS);
    else if (chance.often(100)) out += chance.of(EXTENSIONS);
    out += (kind === 3 ? chance.of(CHUNK_ENDS) : '\r\n') + part;
    if (part !== '') out += kind === 4 ? chance.of(CHUNK_ENDS) : '\r\n';
    else if (kind === 4) out += chance.of(BAD_TRAILERS);
    else if (chance.often(150)) out += chance.of(TRAILERS);
  });
  return `${out}\r\n`;
}

// The lines that frame a body, and the body as it is sent.
function framed(chance, body, odd) {
  const kind = chance.below(odd ? 8 : 3);
  const length = (spelling) => `Content-Length:${spelling}`;
  const coding = (value) => `Transfer-Encoding:${value}`;
  const right = () => chance.of(LENGTH_SPELLINGS)(body.length);
  switch (kind) {
    case 0: return body === '' && chance.often(500) ? [[], ''] : [[length(right())], body];
    case 1: return [[coding(chance.of(CODINGS))], chunked(chance, body, false)];
    case 2: return [[length(right())], body];
    case 3: return [[coding(' chunked')], chunked(chance, body, true)];
    case 4: return [[length(chance.of(BAD_LENGTHS)(body.length))], body];
    case 5: return [[coding(chance.of(BAD_CODINGS))], chunked(chance, body, false)];
    case 6: {  // Both, in either order: CL.TE and TE.CL.
      const sent = chunked(chance, body, false);
      const lines = [length(chance.of([` ${sent.length}`, ` ${body.length}`, ' 0', ' 4'])),
                     coding(chance.of([...CODINGS, ...BAD_CODINGS]))];
      return [chance.often(500) ? lines : lines.reverse(), sent];
    }
    default: {  // Twice: TE.TE and CL.CL.
      const twice = chance.often(500);
      const sent = twice ? chunked(chance, body, false) : body;
      const one = twice ? coding(' chunked') : length(` ${body.length}`);
      const two = twice ? coding(chance.of([...CODINGS, ...BAD_CODINGS]))
                        : length(chance.of([` ${body.length}`, ' 0', ` ${body.length + 5}`, ...BAD_LENGTHS.map((f) => f(body.length))]));
      return [chance.often(500) ? [one, two] : [two, one], sent];
    }
  }
}

// Which part of a request is made wrong; most often none.
const PARTS = ['method', 'target', 'version', 'host', 'line', 'framing', 'framing', 'framing', 'end', 'byte', 'byte', 'before', 'old'];

function fieldLines(chance, wrong) {
  const lines = [];
  const host = `Host: ${wrong === 'host' ? chance.of(BAD_HOSTS) : chance.of(HOSTS)}`;
  const without = wrong === 'old' && chance.often(300);
  if (!without) lines.push(host);
  if (wrong === 'host' && chance.often(200)) lines.push('Host: a.example');
  for (let left = chance.below(4); left > 0; --left) lines.push(chance.of(LINES));
  if (wrong === 'line') lines.splice(chance.below(lines.length + 1), 0, chance.of(BAD_LINES));
  if (chance.often(20)) lines.push('Connection: close');
  return lines;
}

function request(chance, id, wrong) {
  const method = wrong === 'method' ? chance.of(BAD_METHODS) : chance.of(METHODS);
  const badStart = wrong === 'target' && chance.often(400);
  const start = badStart ? chance.of(BAD_TARGET_STARTS) : chance.of(TARGET_STARTS);
  const end = wrong === 'target' && !badStart ? chance.of(BAD_TARGET_ENDS) : chance.of(TARGET_ENDS);
  const old = wrong === 'old' ? 'HTTP/1.0' : 'HTTP/1.1';
  const version = wrong === 'version' ? chance.of(BAD_VERSIONS) : old;
  const lines = fieldLines(chance, wrong);
  const reads = method === 'GET' || method === 'HEAD';
  const bare = reads && wrong !== 'framing' && chance.often(800);
  const [framing, sent] = bare ? [[], ''] : framed(chance, bodyFor(chance, id), wrong === 'framing');
  lines.splice(chance.below(lines.length + 1), 0, ...framing);
  let head = [`${method} ${start}/${id}${end} ${version}`, ...lines].map((line) => `${line}\r\n`);
  if (wrong === 'end') {
    const at = chance.below(head.length);
    head[at] = head[at].slice(0, -2) + chance.of(LINE_ENDS);
  }
  const before = wrong === 'before' ? chance.of(['\r\n', '\r\n', '\n', '\r\n\r\n', ' ', '\r', '\0']) : '';
  return `${before}${head.join('')}\r\n${sent}`;
}

// One byte more, less or other.
function withOtherByte(chance, bytes) {
  const at = chance.below(bytes.length);
  const kind = chance.below(3);
  const byte = kind === 1 ? '' : chance.of(BYTES);
  return bytes.slice(0, at) + byte + bytes.slice(at + (kind === 0 ? 0 : 1));
}

// The bytes, and how many requests were meant.
function makeStream(seed, number) {
  const chance = new Chance(seed, number);
  const count = 1 + chance.below(12);
  const name = `s${number}-${chance.next().toString(36)}`;
  let bytes = '';
  for (let i = 0; i < count; ++i) {
    const wrong = chance.often(220) ? chance.of(PARTS) : '';
    const made = request(chance, `${name}.${i}`, wrong);
    bytes += wrong === 'byte' ? withOtherByte(chance, made) : made;
  }
  bytes += `GET /${name}.end HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n`;
  const cuts = [];
  if (chance.often(200)) {
    for (let left = 1 + chance.below(3); left > 0; --left) cuts.push(chance.below(bytes.length));
    cuts.sort((a, b) => a - b);
  }
  return { number, bytes, cuts };
}

module.exports = { makeStream };
