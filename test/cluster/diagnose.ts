/** Diagnostics after a failed test on the cluster: pods, reasons, events, logs, resources. */
import { tryInside } from './cluster.ts'

/** Only the end of each command's output is printed: the newest lines contain the reason. */
const MOST_CHARACTERS = 6_000

/** Prints the state of the release's namespace and of the resources that the operator reconciles. */
export async function diagnose(namespace: string): Promise<void> {
  const logs = ['logs', '--all-containers', '--prefix', '--tail=30', '--max-log-requests=30']
  const ours = ['-l', 'app.kubernetes.io/part-of=postwright']
  for (const args of [
    ['get', 'pods', '-A', '-o', 'wide'],
    ['-n', namespace, 'get', 'events', '--sort-by=.lastTimestamp'],
    ['-n', namespace, 'describe', 'pods', '--show-events=false', ...ours],
    ['-n', namespace, ...logs, ...ours],
    ['-n', namespace, ...logs, '--previous', '--ignore-errors', ...ours],
    ['get', 'postwright-all', '-A', '-o', 'yaml'],
    ['-n', 'environment', ...logs, 'deployment/mx'],
    ['-n', 'environment', ...logs, 'deployment/dns'],
  ]) {
    const { stdout, stderr } = await tryInside('kubectl', args)
    process.stdout.write(`\n--- kubectl ${args.join(' ')}\n${(stdout + stderr).slice(-MOST_CHARACTERS)}\n`)
  }
}
