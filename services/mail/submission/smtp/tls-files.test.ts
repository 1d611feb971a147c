import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { silentLog } from '../../../platform/observability/log.ts'
import { makeCertificate } from '../../../platform/security/self-signed-certificate.ts'
import { expiryOf, readTlsFiles, type TlsPair, watchTlsFiles } from './tls-files.ts'

const pair = () => makeCertificate(['localhost'], 1, new Date())

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'pw-tls-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

async function files(content: Partial<TlsPair> = {}): Promise<{ cert: string; key: string }> {
  const path = await folder()
  const complete = { ...(await pair()), ...content }
  await writeFile(join(path, 'c'), complete.cert)
  await writeFile(join(path, 'k'), complete.key)
  return { cert: join(path, 'c'), key: join(path, 'k') }
}

test('the end of a certificate is in seconds', async () => {
  const { cert } = await makeCertificate(['localhost'], 2, new Date('2026-11-24T00:00:00Z'))
  expect(expiryOf(cert)).toBe(Date.parse('2026-11-26T00:00:00Z') / 1_000)
})

describe('reading', () => {
  test('a pair that fits', async () => {
    const { cert, key } = await files()
    expect(await readTlsFiles(cert, key)).toEqual({
      cert: expect.stringContaining('BEGIN CERTIFICATE'),
      key: expect.stringContaining('PRIVATE KEY'),
    })
  })

  test.each<[string, () => Promise<Partial<TlsPair>>, string]>([
    [
      'a key of another certificate',
      async () => ({ key: (await pair()).key }),
      'are not a PEM certificate and its key',
    ],
    ['no certificate in the file', async () => ({ cert: 'x' }), 'are not a PEM certificate and its key'],
    ['no key in the file', async () => ({ key: '' }), 'are not a PEM certificate and its key'],
  ])('refused: %s', async (_, content, message) => {
    const { cert, key } = await files(await content())
    await expect(readTlsFiles(cert, key)).rejects.toThrow(message)
  })

  test('a missing file is named by its setting', async () => {
    const { cert } = await files()
    await expect(readTlsFiles(cert, '/nowhere/key')).rejects.toThrow('cannot read SUBMISSION_TLS_KEY')
  })
})

describe('watching', () => {
  /** The notifications of a watch of these files. */
  function watched(paths: { cert: string; key: string }): TlsPair[] {
    const seen: TlsPair[] = []
    onTestFinished(watchTlsFiles(paths.cert, paths.key, silentLog, changed => seen.push(changed), 20))
    return seen
  }

  test('both files written one after the other count once, as a pair', async () => {
    const paths = await files()
    const seen = watched(paths)
    const next = await pair()
    await writeFile(paths.cert, next.cert)
    await writeFile(paths.key, next.key)
    await vi.waitFor(() => expect(seen).toEqual([next]), { timeout: 10_000 })
  })

  test('half a change is left alone until the other half is there', async () => {
    const paths = await files()
    const seen = watched(paths)
    const next = await pair()
    const complaints: string[] = []
    const log = { ...silentLog, warn: (_: object, message: string) => complaints.push(message) }
    onTestFinished(watchTlsFiles(paths.cert, paths.key, log, () => undefined, 20))
    // In one step: a file that is read while it is written is another half change.
    await writeFile(`${paths.cert}.new`, next.cert)
    await rename(`${paths.cert}.new`, paths.cert)
    await vi.waitFor(() => expect(complaints).toHaveLength(1), { timeout: 10_000 })
    expect(seen).toEqual([])
    await writeFile(paths.key, next.key)
    await vi.waitFor(() => expect(seen).toEqual([next]), { timeout: 10_000 })
  })

  test('a swapped folder of a symbolic link, as a mounted Secret changes, counts', async () => {
    const root = await folder()
    const write = async (name: string) => {
      const made = await pair()
      await mkdir(join(root, name))
      await writeFile(join(root, name, 'c'), made.cert)
      await writeFile(join(root, name, 'k'), made.key)
      return made
    }
    await write('one')
    const two = await write('two')
    await symlink('one', join(root, 'now'))
    const seen = watched({ cert: join(root, 'now', 'c'), key: join(root, 'now', 'k') })
    await symlink('two', join(root, 'next'))
    await rename(join(root, 'next'), join(root, 'now'))
    await vi.waitFor(() => expect(seen).toEqual([two]), { timeout: 10_000 })
  })
})
