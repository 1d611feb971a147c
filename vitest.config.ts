/** Test projects: `unit` tests are next to the code, `system` tests drive complete paths over real sockets. */
import { defineConfig } from 'vitest/config'

const node = { environment: 'node' as const, testTimeout: 120_000, hookTimeout: 120_000 }

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    runner: './test/support/runner.ts',
    // Two workers: the machines that run this have two cores, and the real servers beside the tests need some of them.
    maxWorkers: 2,
    // A flaky test is a failing test.
    retry: 0,
    // How long a state is waited for decides nothing but when a failing test ends; a busy machine takes its time.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          ...node,
          name: 'unit',
          include: ['services', 'scripts', 'operator', 'clients'].map(folder => `${folder}/**/*.test.ts`),
        },
      },
      {
        extends: true,
        test: {
          ...node,
          name: 'system',
          include: ['test/system/**/*.test.ts', 'test/contract/**/*.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          ...node,
          name: 'operator',
          include: ['test/operator/**/*.test.ts'],
          globalSetup: ['test/support/kubernetes/apiserver-setup.ts'],
          // Last, because the API server may have to be built first.
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { ...node, name: 'chart', include: ['test/chart/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          ...node,
          name: 'panel',
          include: ['test/panel/**/*.test.ts'],
          setupFiles: ['test/panel/support/report-failures.ts'],
          // The first of them builds the panel while the others wait.
          hookTimeout: 240_000,
        },
      },
      // On a real cluster: only where TEST_CLUSTER names the tool that reaches one.
      ...(process.env.TEST_CLUSTER
        ? [
            {
              extends: true as const,
              // Each test continues with the state that the previous one left.
              test: { ...node, name: 'cluster', include: ['test/cluster/**/*.test.ts'] },
            },
          ]
        : []),
    ],
  },
})
