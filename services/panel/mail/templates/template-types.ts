/** Templates as the API returns them. */
import type { Output } from '../../api/client.ts'

export type Template = Output<'getTemplateOperation'>
export type TemplateSummary = Output<'listTemplatesOperation'>['data'][number]
export type TemplateVersion = Output<'listTemplateVersionsOperation'>['data'][number]
export type Variable = Template['variables'][number]
