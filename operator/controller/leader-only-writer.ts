/** Checks the lease before every write to the API server. */
import type { Writer } from '../kube/object-writer.ts'

/** A writer that throws `NotLeaderError` instead of writing when this process is no longer the leader. Reads pass. */
export function leaderOnly(writer: Writer, assertLeader: () => void): Writer {
  const guarded =
    <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      assertLeader()
      return write(...args)
    }
  return {
    readSecret: writer.readSecret,
    readConfigMap: writer.readConfigMap,
    readNamespace: writer.readNamespace,
    readDnsEndpoint: writer.readDnsEndpoint,
    applyStatus: guarded(writer.applyStatus),
    setFinalizers: guarded(writer.setFinalizers),
    applySecret: guarded(writer.applySecret),
    labelSecret: guarded(writer.labelSecret),
    writeDnsEndpoint: guarded(writer.writeDnsEndpoint),
    deleteDnsEndpoint: guarded(writer.deleteDnsEndpoint),
  }
}
