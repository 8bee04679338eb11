// One connection of a client: sends a stream and reads what is answered until the other side ends.

'use strict';

const net = require('net');

const PATIENCE_MS = 30000;

// Reads answers strictly, so far as Ringside and our origin may write them. `methods` are those of
// the requests, in order, that of a refused one the last.
function readAnswers(text, methods) {
  const answers = [];
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('\r\n\r\n', at);
    if (end < 0) return { answers, fault: 'a head without end' };
    const lines = text.slice(at, end).split('\r\n');
    at = end + 4;
    const status = /^HTTP\/1\.1 ([1-5][0-9][0-9]) [^\r\n\0]*$/.exec(lines[0]);
    if (!status) return { answers, fault: `a status line ${JSON.stringify(lines[0])}` };
    const fields = new Map();
    for (const line of lines.slice(1)) {
      const field = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([^\r\n\0]*)$/.exec(line);
      if (!field) return { answers, fault: `a field line ${JSON.stringify(line)}` };
      fields.set(field[1].toLowerCase(), field[2]);
    }
    const answer = { status: Number(status[1]), fields };
    if (answer.status < 200) continue;
    const bare = methods[answers.length] === 'HEAD' || answer.status === 204 || answer.status === 304;
    answers.push(answer);
    const bodyEnd = skipBody(text, at, fields);
    // An error that ends the connection may bring its text where the request was a HEAD, too.
    const harmless = answer.status >= 400 && fields.get('connection') === 'close' && bodyEnd === text.length;
    at = bare && !harmless ? at : bodyEnd;
    if (at < 0) return { answers, fault: 'a body without end' };
  }
  return { answers, fault: '' };
}

// Where the body that begins at `at` ends; -1 where it does not.
function skipBody(text, at, fields) {
  if (fields.has('content-length')) {
    const end = at + Number(fields.get('content-length'));
    return fields.has('transfer-encoding') || !(end <= text.length) ? -1 : end;
  }
  if (fields.get('transfer-encoding') !== 'chunked') return text.length;
  for (;;) {
    const line = /^([0-9a-fA-F]+)\r\n/.exec(text.slice(at, at + 20));
    if (!line) return -1;
    const size = parseInt(line[1], 16);
    at += line[0].length + size;
    if (text.slice(at, at + 2) !== '\r\n') return -1;
    at += 2;
    if (size === 0) return at;
  }
}

// Resolves to {answers, fault, raw}. After `most` answers we end the connection ourselves: for
// streams that end in the middle of a request.
function converse(door, stream, methods, most) {
  return new Promise((resolve) => {
    const received = [];
    const socket = net.connect({ host: door.host, port: door.port, noDelay: true });
    let patience = setTimeout(() => finish('no end'), PATIENCE_MS);
    const finish = (fault) => {
      if (patience === null) return;
      clearTimeout(patience);
      patience = null;
      socket.destroy();
      const raw = Buffer.concat(received).toString('latin1');
      const read = readAnswers(raw, methods);
      resolve({ answers: read.answers, fault: fault || read.fault, raw });
    };
    const endIfAnswered = () => {
      if (most === Infinity) return;
      const read = readAnswers(Buffer.concat(received).toString('latin1'), methods);
      if (!read.fault && read.answers.length >= most) socket.end();
    };
    socket.on('data', (piece) => {
      received.push(piece);
      endIfAnswered();
    });
    socket.on('end', () => finish(''));
    // A reset comes where bytes of ours were left unread; what was answered before it counts.
    socket.on('error', (error) => finish(error.code === 'ECONNRESET' || error.code === 'EPIPE' ? '' : String(error)));
    socket.on('close', () => finish(''));
    socket.on('connect', () => send(socket, stream).then(endIfAnswered));
  });
}

async function send(socket, stream) {
  let at = 0;
  for (const cut of [...stream.cuts, stream.bytes.length]) {
    socket.write(Buffer.from(stream.bytes.slice(at, cut), 'latin1'));
    at = cut;
    await new Promise(setImmediate);
  }
}

module.exports = { converse };
