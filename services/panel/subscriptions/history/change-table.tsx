/** Table of changes with their old and new values. */
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { usePreferences } from '../../state/preferences.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import { type SubOutput, useAllApps } from '../shared/subscriptions-api.ts'
import { actionName, changeValue, fieldName, planId } from './change-values.ts'

type Entry = SubOutput<'auditLog'>['audit_logs'][number]

/** Changes of one field that are shown without being opened. */
const OPEN = 3

/** Without `appKey`, the entries are of several apps, which a column names. */
export function ChangeTable({ entries, appKey }: { entries: readonly Entry[]; appKey?: string }) {
  const { t } = useTranslation()
  const apps = useAllApps()
  const keys = new Set(appKey === undefined ? apps.data?.map(({ app_key }) => app_key) : [appKey])
  const app: Column<Entry> = {
    label: t('subs.changeFields.app_key'),
    under: t('account.when'),
    cell: ({ app_key }) => app_key || '–',
  }
  const columns: Column<Entry>[] = [
    { label: t('account.when'), cell: entry => <BusinessTime short at={entry.created_at} /> },
    ...(appKey === undefined ? [app] : []),
    { label: t('account.actor'), under: t('account.when'), cell: entry => <Actor entry={entry} /> },
    {
      label: t('account.action'),
      cell: entry => <span title={entry.action}>{actionName(entry.action, t)}</span>,
    },
    {
      label: t('account.target'),
      text: true,
      cell: entry => <Target entry={entry} hasPage={keys.has(entry.app_key)} />,
    },
    { label: t('subs.fields'), text: true, cell: entry => <Change entry={entry} hasPage={keys.has(entry.app_key)} /> },
  ]
  return <DataTable name={t('subs.changesTitle')} columns={columns} rows={entries} rowKey={entry => entry.id} />
}

function Actor({ entry }: { entry: Entry }) {
  const { t } = useTranslation()
  const kind = t(`subs.actorKinds.${entry.actor_kind as 'admin'}`, { defaultValue: entry.actor_kind })
  return entry.actor_name === '' || entry.actor_kind === 'system' ? (
    kind
  ) : (
    <>
      {entry.actor_name}
      {entry.actor_kind === 'admin' ? null : <span className="pw-sub">{kind}</span>}
    </>
  )
}

/** Users and switches have a page of their own, plans and subscriptions a list of one, as long as their app exists. */
function Target({ entry, hasPage }: { entry: Entry; hasPage: boolean }) {
  const { t } = useTranslation()
  const kind = t(`subs.targetKinds.${entry.target_kind as 'user'}`, { defaultValue: entry.target_kind })
  const name = `${kind} ${entry.target_id}`
  if (!hasPage) return <>{name}</>
  const { app_key: key, target_id: id } = entry
  if (entry.target_kind === 'user')
    return (
      <Link to="/apps/$key/users/$id" params={{ key, id }} className="pw-link">
        {name}
      </Link>
    )
  if (entry.target_kind === 'switch')
    return (
      <Link to="/apps/$key/switches/$name" params={{ key, name: id }} className="pw-link">
        {name}
      </Link>
    )
  if (entry.target_kind === 'subscription')
    return (
      <Link to="/apps/$key/subscriptions" params={{ key }} search={{ subscription: id }} className="pw-link">
        {name}
      </Link>
    )
  if (entry.target_kind === 'plan') return <PlanLink appKey={key} id={id} text={name} />
  return <>{name}</>
}

function PlanLink({ appKey, id, text }: { appKey: string; id: string; text: string }) {
  return (
    <Link to="/apps/$key/plans" params={{ key: appKey }} search={{ plan: id }} className="pw-link">
      {text}
    </Link>
  )
}

function Change({ entry, hasPage }: { entry: Entry; hasPage: boolean }) {
  const { t } = useTranslation()
  return (
    <>
      <Fields entry={entry} hasPage={hasPage} />
      {entry.reason === '' ? null : <div>{t('subs.reasonGiven', { reason: entry.reason })}</div>}
    </>
  )
}

/** Old and new value of each field, collapsed if there are more than three. */
function Fields({ entry: { app_key, changes, target_kind }, hasPage }: { entry: Entry; hasPage: boolean }) {
  const { t } = useTranslation()
  const reader = usePreferences()
  const lines = Object.entries(changes).map(([field, [before, after]]) => {
    const shown = (value: unknown) => {
      const text = changeValue(target_kind, field, value, reader, t)
      return hasPage ? <Linked appKey={app_key} field={field} value={value} text={text} /> : text
    }
    const isNew = before === null || before === undefined
    return (
      <div key={field}>
        <span className="pw-field-name">
          {fieldName(field, t)}
          {t('label.separator')}
        </span>
        {isNew ? null : <>{shown(before)} → </>}
        {shown(after)}
      </div>
    )
  })
  if (lines.length <= OPEN) return lines
  return (
    <details className="pw-details">
      <summary>{t('subs.fieldCount', { count: lines.length })}</summary>
      {lines}
    </details>
  )
}

/** The text of a value, as a link where it names a plan or a user. */
function Linked({ appKey, field, value, text }: { appKey: string; field: string; value: unknown; text: string }) {
  const plan = planId(field, value)
  if (plan !== undefined) return <PlanLink appKey={appKey} id={plan} text={text} />
  if (field === 'user_id' && text !== '–')
    return (
      <Link to="/apps/$key/users/$id" params={{ key: appKey, id: text }} className="pw-link">
        {text}
      </Link>
    )
  return text
}
