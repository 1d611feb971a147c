/**
 * The HTTP server of Node, for the probes of every process. An `import` of `node:http` reads each of its exports, also
 * WebSocket, which loads the HTTP client that is built into Node: 6 MiB. A worker does without it until its first mail or
 * call; libraries of the other processes import it anyway.
 */
export const { createServer } = process.getBuiltinModule('node:http')
