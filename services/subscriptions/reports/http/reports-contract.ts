/** Operations that report statistics of one app, or of all apps in scope. */
import { z } from 'zod'
import { endpoint } from '../../../platform/http/endpoint.ts'
import { VIEW_APPS } from '../../http/shared/access.ts'
import { appKey } from '../../http/shared/contract-fields.ts'
import { userStatistics } from '../../people/http/end-user-schemas.ts'
import { integer } from '../../rules/field-schemas.ts'
import { overview } from './overview-schemas.ts'

/** Statistics of users. */
export const userStatisticsOperation = endpoint({
  operationId: 'getUserStatistics',
  tag: 'Statistics',
  method: 'GET',
  path: '/user_stats',
  summary: 'Statistics of users of one app or of all in scope.',
  access: VIEW_APPS,
  query: z.object({
    app_key: appKey.optional(),
    type: z.enum(['overview', 'trend', 'platform']).default('overview'),
    days: integer(1, 90).default(30),
  }),
  response: userStatistics,
})
/** The overview. */
export const overviewOperation = endpoint({
  operationId: 'getOverview',
  tag: 'Statistics',
  method: 'GET',
  path: '/overview',
  summary: 'Statistics of one app or of all in scope.',
  access: VIEW_APPS,
  query: z.object({ app_key: appKey.optional(), days: integer(1, 90).default(30) }),
  response: overview,
})
