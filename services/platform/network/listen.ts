/** Binding of ports, with errors that name the setting to change. */
import type { AddressInfo, Server } from 'node:net'

/** Binds a server; a taken port is named together with the setting that chose it. Resolves to the bound port. */
export function listen(server: Server, port: number, host: string, setting: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(portError(error, port, host, setting)))
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
}

/** Converts EADDRINUSE and EACCES into a sentence that names the setting to change. */
function portError(error: NodeJS.ErrnoException, port: number, host: string, setting: string): Error {
  if (error.code === 'EADDRINUSE')
    return new Error(`port ${port} on ${host} is taken; stop the other program or set ${setting}`)
  if (error.code === 'EACCES')
    return new Error(`this user may not bind port ${port} on ${host}; choose a port of 1024 or more in ${setting}`)
  return error
}
