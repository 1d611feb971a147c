/** Form of a feature switch: value by type, rollout, rules, schedules, release notes; its effect on a user is beside it. */
import { Switch, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSaveCallbacks } from '../../ui/feedback/save-result.ts'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { NestedErrorsOf } from '../../ui/forms/nested-errors.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'
import { useSubWrite } from '../shared/subscriptions-api.ts'
import { EffectPreview } from './effect-preview.tsx'
import { ReleaseNotesEditor } from './release-notes-editor.tsx'
import { bodyOf, fieldsOf, type SwitchRecord } from './switch-fields.ts'
import { RulesEditor } from './switch-rules.tsx'
import { SchedulesEditor } from './switch-schedules.tsx'
import { RolloutField, TypeField, ValueField } from './switch-value-fields.tsx'

/** `locked` shows the values and their effect without letting them be changed. */
export function SwitchForm(props: { appKey: string; record?: SwitchRecord; locked: boolean; close: () => void }) {
  const { t } = useTranslation()
  const { appKey, locked, close } = props
  // The record that is edited: a newer version of another administrator makes saving fail instead of being overwritten.
  const [record] = useState(props.record)
  const create = useSubWrite('createSwitchOperation')
  const update = useSubWrite('updateSwitchOperation')
  const write = record ? update : create
  const saved = useSaveCallbacks(close)
  const fields = useFields(() => fieldsOf(record), write.error)
  const { values, change } = fields
  const submit = () => {
    const body = bodyOf(values)
    const query = { app_key: appKey }
    if (!record) return create.mutate({ query, body: { ...body, name: values.name.trim() } }, saved)
    return update.mutate({ query: { ...query, name: record.name }, body: { ...body, version: record.version } }, saved)
  }
  const notes = <ReleaseNotesEditor fields={values} set={change} />
  return (
    <div className="pw-editor">
      <div className="pw-card pw-pad">
        <SubmitForm
          state={write}
          fields={fields}
          shown={{ ...values, ...SHOWN_ERRORS }}
          submit={submit}
          action={t(record ? 'ui.save' : 'ui.create')}
          cancel={close}
          disabled={locked}
          byButtonOnly
        >
          <fieldset className="pw-fieldset pw-form-stack" disabled={locked} aria-label={t('subs.switchDefinition')}>
            {record ? null : (
              <TextInput
                data-autofocus
                label={t('subs.name')}
                description={t('subs.switchNameHint')}
                placeholder="new_checkout"
                {...fields.text('name')}
              />
            )}
            <TextInput label={t('subs.description')} {...fields.text('description')} />
            <Switch label={t('subs.enabled')} description={t('subs.enabledHint')} {...fields.flag('enabled')} />
            <TypeField fields={fields} />
            <ValueField fields={fields} />
            <NestedErrorsOf error={write.error} controls={CONTROLS}>
              {values.type === 'changelog' ? notes : null}
              <RolloutField fields={fields} />
              <RulesEditor type={values.type} rules={values.rules} set={rules => change({ rules })} />
              <SchedulesEditor
                type={values.type}
                schedules={values.schedules}
                set={schedules => change({ schedules })}
              />
              {values.type === 'changelog' ? null : notes}
            </NestedErrorsOf>
            <Switch
              label={t('subs.clientVisible')}
              description={t('subs.clientVisibleHint')}
              {...fields.flag('client_visible')}
            />
          </fieldset>
        </SubmitForm>
      </div>
      <EffectPreview appKey={appKey} definition={{ ...bodyOf(values), ...(record ? { name: record.name } : {}) }} />
    </div>
  )
}

/** Fields of the request whose errors an editor shows, besides those of the form. */
const SHOWN_ERRORS = { logs: true }

/** Paths of the request body that have a control in an editor. */
const CONTROLS =
  /^(?:rules\.\d+\.(?:name|value|rollout|conditions\.\d+\.(?:attribute|operator|values))|schedules\.\d+\.(?:at|value|enabled|rollout)|logs\.\d+\.(?:version|date|title|features|improvements|fixes))(?:\.\d+)*$/
