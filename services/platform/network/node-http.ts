/**
 * The HTTP server of Node. An `import` of `node:http` reads each of its exports, also WebSocket, which loads the HTTP
 * client that is built into Node: 6 MiB in every process, because every process answers probes.
 */
export const { createServer } = process.getBuiltinModule('node:http')
