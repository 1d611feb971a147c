import { expect, test } from 'vitest'
import { Template } from '../../resources/template.ts'
import { contentOf, fieldOf } from './template-content.ts'

const from = (key: string) => ({ configMapKeyRef: { name: 'parts', key } })

function resource(spec: object) {
  const metadata = { name: 'a', namespace: 'n', uid: 'u', generation: 1, resourceVersion: '1', creationTimestamp: '' }
  return Template.parse({ metadata, spec: { subject: 'S', ...spec } })
}

const context = (data?: Record<string, string>) => ({
  writer: { readConfigMap: async () => data && { metadata: {}, data } },
})
const read = (spec: object, data?: Record<string, string>) =>
  contentOf(context(data) as unknown as Parameters<typeof contentOf>[0], resource(spec))

test('parts are the fields, or keys of a ConfigMap', async () => {
  expect(await read({ html: '<b>', textFrom: from('txt') }, { txt: '' })).toEqual({
    ...{ subject: 'S', html: '<b>', text: '', variables: [] },
  })
})

test.each<[string, object, Record<string, string> | undefined, string, string]>([
  ['no ConfigMap', { htmlFrom: from('a') }, undefined, 'ConfigMapNotFound', 'There is no ConfigMap parts'],
  ['no key', { textFrom: from('a') }, { b: '' }, 'ConfigMapNotFound', 'has no key a'],
  ['a name of a prototype', { textFrom: from('constructor') }, {}, 'ConfigMapNotFound', 'has no key constructor'],
  ['no JSON', { text: 'T', variables: [{ key: 'l', type: 'list', default: '[' }] }, undefined, 'InvalidSpec', ' l '],
  ['no list', { text: 'T', variables: [{ key: 'l', type: 'list', default: '1' }] }, undefined, 'InvalidSpec', ' l '],
])('%s is refused with its name', async (_, spec, data, reason, text) => {
  expect(await read(spec, data)).toMatchObject({
    condition: { status: 'False', reason, message: expect.stringContaining(text) },
  })
})

test.each([
  ['/subject', 'spec.subject'],
  ['/name', 'spec.templateName'],
  ['/html', 'ConfigMap parts, mail.html:'],
  ['/text', 'spec.text'],
  ['/variables/2/key', 'spec.variables[2].key'],
  ['/variables/0', 'spec.variables[0]'],
])('the error at %s is shown at %s', (pointer, field) => {
  expect(fieldOf(resource({ htmlFrom: from('mail.html'), text: 'T' }), pointer)).toBe(field)
})
