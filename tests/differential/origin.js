// The origin of the differential test: Node's own HTTP server, whose parser (llhttp, strict) was
// written by others. It keeps what it understood until whoever asked takes it, and answers with the
// number under which it is kept.

'use strict';

const http = require('http');

// llhttp has a list of methods; to it others are no HTTP.
function knows(method) { return http.METHODS.includes(method); }

class Origin {
  constructor() {
    this.seen = new Map();  // by number: what no answer was compared with yet
    this.count = 0;
    this.refusals = [];  // what Node's parser said of bytes that Ringside sent
    this.server = http.createServer({ insecureHTTPParser: false, keepAliveTimeout: 600000, requestTimeout: 0, maxHeaderSize: 65536 });
    this.server.headersTimeout = 0;
    this.server.on('request', (request, answer) => this.serve(request, answer));
    this.server.on('checkContinue', (request, answer) => {
      answer.writeContinue();
      this.serve(request, answer);
    });
    this.server.on('checkExpectation', (request, answer) => this.serve(request, answer));
    this.server.on('clientError', (error, socket) => this.refuse(error, socket));
  }

  listen() {
    return new Promise((resolve) => {
      this.server.listen(0, '127.0.0.1', 1024, () => resolve(this.server.address().port));
    });
  }

  serve(request, answer) {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('error', () => {});  // broken off in its body: nothing was understood
    request.on('end', () => {
      const number = ++this.count;
      this.seen.set(number, {
        method: request.method,
        target: request.url,
        version: request.httpVersion,
        fields: request.rawHeaders,
        body: Buffer.concat(pieces).toString('latin1'),
      });
      answer.setHeader('X-Seen', String(number));
      answer.setHeader('Cache-Control', 'no-store');
      // Both ways in which a body can end, and none.
      if (number % 3 === 0) answer.setHeader('Content-Length', '6');
      answer.end(number % 3 === 1 ? '' : 'answer');
    });
  }

  refuse(error, socket) {
    // Whoever refuses a request in its body breaks off what it had begun to forward.
    const brokenOff = ['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE'].includes(error.code);
    const raw = error.rawPacket ? error.rawPacket.toString('latin1') : '';
    const strange = error.code === 'HPE_INVALID_METHOD' && !knows(raw.slice(0, raw.indexOf(' ')));
    if (!brokenOff && !strange) {
      this.refusals.push(`${error.code} ${error.reason || error.message}: ${JSON.stringify(raw.slice(0, 600))}`);
    }
    socket.destroy();
  }
}

module.exports = { Origin, knows };
