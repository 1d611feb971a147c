/** The operator process: reconciles the custom resources of the cluster that its service account belongs to. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { type Foundation, run } from '../services/platform/process/run.ts'
import type { Running } from '../services/platform/running.ts'
import { startOperator } from './controller/start-operator.ts'
import { createKubeClient, currentNamespace, defaultLogin } from './kube/client.ts'

/** Builds the operator on the foundation of a process. */
export function operator(foundation: Foundation): Promise<Running> {
  const { config, log, metrics } = foundation
  const namespace = config.OPERATOR_NAMESPACE ?? currentNamespace(defaultLogin())
  if (!namespace) throw new Error('OPERATOR_NAMESPACE is missing, and the kubeconfig names no namespace')
  return startOperator(foundation, {
    client: createKubeClient(defaultLogin, metrics.operator),
    namespace,
    identity: `${config.OPERATOR_IDENTITY ?? hostname()}_${randomBytes(4).toString('hex')}`,
    watchNamespaces: config.WATCH_NAMESPACES,
    onLost: () => {
      // Whatever still runs here must not go on beside the new leader.
      log.error({}, 'leadership lost; the process ends')
      process.exit(1)
    },
  })
}

if (import.meta.main) await run('operator', process.env, operator)
