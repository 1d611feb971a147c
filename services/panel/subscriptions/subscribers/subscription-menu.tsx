/** Actions of a subscription: extend, turn off renewal, cancel, refund, change history. */
import { Menu, NumberInput, TextInput, type TextInputProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNotifyCallbacks, useSaveCallbacks } from '../../ui/feedback/save-result.ts'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'
import { RowMenu } from '../../ui/layout/row-menu.tsx'
import { isUnpaid } from '../shared/payment-id.ts'
import { type SubOutput, useSubWrite } from '../shared/subscriptions-api.ts'

export type Subscription = SubOutput<'listSubscriptionsOperation'>['subscriptions'][number]
type OpenDialog = 'extend' | 'cancel' | 'refund'

/** Maximum length of the API. */
const MAX_REASON = 200

/** Canceled and refunded subscriptions, and viewers, only have the change history. */
export function SubscriptionMenu(props: { subscription: Subscription; appKey: string; edit: boolean }) {
  const { t } = useTranslation()
  const { subscription, appKey } = props
  const [asking, setAsking] = useState<OpenDialog>()
  const act = useSubWrite('actOnSubscription')
  const notify = useNotifyCallbacks()
  const base = { params: { id: subscription.id }, query: { app_key: appKey } }
  const name = `${subscription.user_nickname || subscription.user_id} · ${subscription.plan_name}`
  const stopRenewing = () =>
    act.mutate({ ...base, body: { action: 'set_auto_renew', auto_renew: '0', version: subscription.version } }, notify)
  const history = (
    <Menu.Item
      renderRoot={props => (
        <Link {...props} to="/apps/$key/changes" params={{ key: appKey }} search={{ subscription: subscription.id }} />
      )}
    >
      {t('subs.changeHistory')}
    </Menu.Item>
  )
  if (!props.edit || subscription.status === '3' || subscription.status === '4')
    return <RowMenu name={name}>{history}</RowMenu>
  return (
    <>
      <RowMenu name={name}>
        {history}
        {subscription.is_permanent ? null : (
          <Menu.Item onClick={() => setAsking('extend')}>{t('subs.extend')}</Menu.Item>
        )}
        {subscription.auto_renew === '1' ? (
          <Menu.Item onClick={stopRenewing}>{t('subs.stopRenewing')}</Menu.Item>
        ) : null}
        <Menu.Item onClick={() => setAsking('cancel')}>{t('subs.cancelSubscription')}</Menu.Item>
        <Menu.Item color="stamp" onClick={() => setAsking('refund')}>
          {t('subs.refund')}
        </Menu.Item>
      </RowMenu>
      <SubscriptionDialogs
        subscription={subscription}
        appKey={appKey}
        name={name}
        opened={asking}
        close={() => setAsking(undefined)}
      />
    </>
  )
}

function SubscriptionDialogs(props: {
  subscription: Subscription
  appKey: string
  /** Shown in the titles. */
  name: string
  opened: OpenDialog | undefined
  close: () => void
}) {
  const { t } = useTranslation()
  const { subscription, appKey, name, opened } = props
  const [reason, setReason] = useState('')
  const act = useSubWrite('actOnSubscription')
  const base = { params: { id: subscription.id }, query: { app_key: appKey } }
  const close = () => {
    props.close()
    setReason('')
  }
  const reasonField = (
    <ReasonField data-autofocus value={reason} onChange={event => setReason(event.currentTarget.value)} />
  )
  return (
    <>
      <Dialog opened={opened === 'extend'} close={close} title={t('subs.extendTitle', { name })}>
        {() => <ExtendForm subscription={subscription} appKey={appKey} close={close} />}
      </Dialog>
      <ConfirmDialog
        opened={opened === 'cancel'}
        close={close}
        title={t('subs.cancelTitle', { name })}
        unsaved={reason !== ''}
        action={t('subs.cancelSubscription')}
        dismiss={t('subs.keep')}
        run={() =>
          act.mutateAsync({ ...base, body: { action: 'cancel', at: 'now', reason, version: subscription.version } })
        }
      >
        {t('subs.cancelText')}
        {reasonField}
      </ConfirmDialog>
      <ConfirmDialog
        opened={opened === 'refund'}
        close={close}
        title={t('subs.refundTitle', { name })}
        unsaved={reason !== ''}
        action={t('subs.refund')}
        run={() => act.mutateAsync({ ...base, body: { action: 'refund', reason, version: subscription.version } })}
      >
        {t(isUnpaid(subscription.payment_id) ? 'subs.refundUnpaidText' : 'subs.refundText')}
        {reasonField}
      </ConfirmDialog>
    </>
  )
}

function ExtendForm(props: { subscription: Subscription; appKey: string; close: () => void }) {
  const { t } = useTranslation()
  const { subscription, appKey, close } = props
  const act = useSubWrite('actOnSubscription')
  const saved = useSaveCallbacks(close)
  const fields = useFields({ days: 30, reason: '' }, act.error)
  const submit = () =>
    act.mutate(
      {
        params: { id: subscription.id },
        query: { app_key: appKey },
        body: { action: 'extend', ...fields.values, version: subscription.version },
      },
      saved,
    )
  return (
    <SubmitForm state={act} fields={fields} submit={submit} action={t('subs.extend')} cancel={close}>
      <NumberInput
        data-autofocus
        label={t('subs.daysMore')}
        min={1}
        max={36_500}
        allowDecimal={false}
        {...fields.count('days')}
      />
      <ReasonField {...fields.text('reason')} />
    </SubmitForm>
  )
}

/** Why a subscription is changed; part of the change history. */
export function ReasonField(
  props: Pick<TextInputProps, 'value' | 'onChange' | 'error'> & { 'data-autofocus'?: boolean },
) {
  const { t } = useTranslation()
  return (
    <TextInput
      mt="sm"
      label={t('subs.reason')}
      description={t('subs.reasonHint')}
      maxLength={MAX_REASON}
      autoComplete="off"
      {...props}
    />
  )
}
