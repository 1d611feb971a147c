/** The resources in README and docs, as a reader copies them: the API server accepts each, and both languages show the same. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { KubeClient } from '../../operator/kube/client.ts'
import type { KubeObject } from '../../operator/kube/object-cache.ts'
import { listPath } from '../../operator/kube/object-paths.ts'
import { kinds } from '../../operator/resources/kinds.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { adminClient, newNamespace } from '../support/kubernetes/clients-and-crds.ts'

interface Resource extends KubeObject {
  apiVersion: string
  kind: string
  spec: object
}

const GROUP = 'postwright.dev/'
const FENCE = /^( *)```(\S*)[^\n]*\n([\s\S]*?)^\1```$/gm
const HEREDOC = /kubectl apply[^\n]*<<\s*'?(\w+)'?\n([\s\S]*?)^\1$/gm

const documents = [
  ...readdirSync('.').filter(name => /^README.*\.md$/.test(name)),
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
].toSorted()

/** Our resources in the YAML blocks of a text, and in what its shell blocks give to kubectl. */
function resourcesIn(text: string): Resource[] {
  const blocks = [...text.matchAll(FENCE)].flatMap(([, indent = '', language, block = '']) => {
    const content = block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    if (language === 'yaml' || language === 'yml') return [content]
    return [...content.matchAll(HEREDOC)].map(([, , given = '']) => given)
  })
  return blocks
    .filter(block => block.includes(`apiVersion: ${GROUP}`))
    .flatMap(block => parseAllDocuments(block).map(document => document.toJS() as Resource))
    .filter(({ apiVersion }) => String(apiVersion).startsWith(GROUP))
}

const shown = documents.flatMap(file =>
  resourcesIn(readFileSync(file, 'utf8')).map((resource, n) => ({ file, n: n + 1, resource })),
)

onApiServer('resources in documents', () => {
  let admin: KubeClient
  let namespace: string
  beforeAll(async () => {
    admin = adminClient(sharedApiServer())
    namespace = await newNamespace(admin)
  })
  afterAll(() => admin?.close())

  const apply = async ({ apiVersion, kind, metadata, spec }: Resource): Promise<KubeObject> => {
    const { plural = kind, scope } = kinds.find(known => known.kind === kind) ?? {}
    const isShared = scope === 'Cluster'
    const path = `${listPath(plural, isShared ? undefined : namespace)}/${metadata.name}`
    return admin.request({
      method: 'PATCH',
      path,
      query: { fieldManager: 'test', dryRun: 'All', fieldValidation: 'Strict' },
      body: { apiVersion, kind, metadata: { ...metadata, ...(isShared ? {} : { namespace }) }, spec },
      patch: 'apply',
    })
  }

  // The API server refuses an object of another version than that of the path: documents show the stored one.
  test.each(shown)('$file, resource $n ($resource.kind $resource.metadata.name)', async ({ resource }) => {
    const applied = await apply(resource)
    expect(applied.metadata.name).toBe(resource.metadata.name)
  })

  test('a field that does not exist, and a value that is not allowed, are found', async () => {
    const resource = (spec: string) =>
      resourcesIn(
        `1. Apply:\n\n   \`\`\`yaml\n   apiVersion: postwright.dev/v1beta1\n   kind: MailDomain\n   metadata: { name: x }\n   spec: ${spec}\n   \`\`\`\n`,
      )
    const [good, unknown, wrong] = [
      '{ domainName: x.example }',
      '{ domainName: x.example, dnss: {} }',
      '{ domainName: x.example, delivery: Never }',
    ].flatMap(resource)
    await apply(good as Resource)
    await expect(apply(unknown as Resource)).rejects.toThrow(/dnss/)
    await expect(apply(wrong as Resource)).rejects.toThrow(/spec\.delivery/)
  })
})

test('documents show resources, also those that a shell gives to kubectl', () => {
  const kindsOf = (file: string) => shown.filter(one => one.file === file).map(({ resource }) => resource.kind)
  expect(kindsOf('README.md')).toEqual(['MailDomain'])
  expect(kindsOf('docs/quickstarts/kubernetes.md')).toEqual(['SMTPCredential'])
  expect(kindsOf('docs/dns-providers.md')).toHaveLength(5)
})

const translated = documents.filter(file => existsSync(file.replace(/\.md$/, '.zh-CN.md')))

test.each(translated)('%s and its Chinese translation show the same resources', file => {
  const read = (name: string) => resourcesIn(readFileSync(name, 'utf8'))
  expect(read(file.replace(/\.md$/, '.zh-CN.md'))).toEqual(read(file))
})
