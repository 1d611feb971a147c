/** Where SMTP clients connect, as it is shown to people. */

/** A public port and how TLS begins on it. */
export interface PublicPort {
  port: number
  mode: 'starttls' | 'tls'
}

/**
 * The public ports with their modes. A port that the process itself listens on has the listener's mode; otherwise a
 * load balancer maps it, and 465 is implicit TLS (RFC 8314 section 3.3), all others STARTTLS.
 */
export function publicPorts(ports: readonly string[], listeners: readonly PublicPort[]): PublicPort[] {
  return ports
    .map(Number)
    .filter(port => Number.isInteger(port) && port > 0)
    .map(port => ({
      port,
      mode: listeners.find(listener => listener.port === port)?.mode ?? (port === 465 ? 'tls' : 'starttls'),
    }))
}
