/**
 * Preloaded into a worker (`node --import`): counts the connections that it tries to open, by address, into the file
 * BENCH_CONNECTIONS. A host that refuses connections cannot count them itself.
 */
import { subscribe } from 'node:diagnostics_channel'
import { writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'

const file = process.env.BENCH_CONNECTIONS
const tries = new Map<string, number>()
let changed = false

if (file) {
  subscribe('net.client.socket', message => {
    const { socket } = message as { socket: Socket }
    socket.on('connectionAttempt', (ip: string) => {
      tries.set(ip, (tries.get(ip) ?? 0) + 1)
      changed = true
    })
  })
  setInterval(() => {
    if (changed) writeFileSync(file, JSON.stringify([...tries]))
    changed = false
  }, 500).unref()
}
