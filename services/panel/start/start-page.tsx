/** Getting-started guide; steps are marked as complete by the state of the account. */
import { Button, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type Dispatch, type ReactNode, type SetStateAction, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddDomain } from '../mail/domains/add-domain.tsx'
import { SendForm } from '../mail/send/send-page.tsx'
import { useAccount, useTrial } from '../session/session.ts'
import { LoadingRows } from '../ui/feedback/content-states.tsx'
import { Note } from '../ui/feedback/status-badge.tsx'
import { useUnsavedWork } from '../ui/forms/unsaved-work.tsx'
import { Card, Page } from '../ui/layout/page.tsx'
import { AccessStep } from './access-step.tsx'
import { CodeExamples } from './code-examples.tsx'
import { DomainFirst } from './domain-first.tsx'
import { MoreToRead } from './more-to-read.tsx'
import { SimulationStep } from './simulation-step.tsx'
import { nextStep, type Step } from './start-steps.ts'
import { type MadeAccess, useSnippetValues } from './use-snippet-values.ts'
import { type StartProgress, useStartProgress } from './use-start-progress.ts'

export function StartPage() {
  const { t } = useTranslation()
  const progress = useStartProgress()
  const [made, setMade] = useState<MadeAccess>({})
  // Also while the answer is on its way: a secret that arrives after the page was left is lost.
  useUnsavedWork(() => made.unsaved === true || (made.pending ?? 0) > 0)
  const values = useSnippetValues(progress?.sender ?? progress?.own, made)
  return (
    <Page title={t('start.title')} lead={t('start.lead')}>
      {progress ? (
        <Guide progress={progress} made={made} setMade={setMade} />
      ) : (
        <Card>
          <LoadingRows />
        </Card>
      )}
      <Card title={t('start.examples')}>
        <CodeExamples values={values} />
      </Card>
      <Card title={t('start.more.title')}>
        <MoreToRead />
      </Card>
    </Page>
  )
}

interface GuideProps {
  progress: StartProgress
  made: MadeAccess
  setMade: Dispatch<SetStateAction<MadeAccess>>
}

/** Opens at the first step that is missing, and stays at a step that is completed while it is open. */
function Guide({ progress, made, setMade }: GuideProps) {
  const { t } = useTranslation()
  const { order } = progress
  const next = nextStep(order, progress.done)
  const [active, choose] = useState<Step>(next ?? 'use')
  return (
    <>
      <Card>
        <StepList order={order} done={progress.done} active={active} choose={choose} />
      </Card>
      <Card title={t(`start.step.${active}`)}>
        <Stack gap="lg">
          <StepBody step={active} progress={progress} made={made} setMade={setMade} choose={choose} />
          {next && next !== active && progress.done.has(active) ? (
            <Group>
              <Button variant="light" onClick={() => choose(next)}>
                {t('start.next', { step: t(`start.step.${next}`) })}
              </Button>
            </Group>
          ) : null}
          {next === undefined ? <Note tone="ok">{t('start.allDone')}</Note> : null}
        </Stack>
      </Card>
    </>
  )
}

function StepList(props: {
  order: readonly Step[]
  done: ReadonlySet<Step>
  active: Step
  choose: (step: Step) => void
}) {
  const { t } = useTranslation()
  return (
    <ol className="pw-steps">
      {props.order.map((step, index) => (
        <li key={step}>
          <UnstyledButton
            className="pw-step"
            aria-current={step === props.active ? 'step' : undefined}
            onClick={() => props.choose(step)}
          >
            <span className="pw-step-mark" data-done={props.done.has(step) || undefined}>
              {props.done.has(step) ? <IconCheck size={16} aria-label={t('start.done')} /> : index + 1}
            </span>
            <span>
              <span className="pw-step-name">{t(`start.step.${step}`)}</span>
              <span className="pw-sub">{t(`start.hint.${step}`)}</span>
            </span>
          </UnstyledButton>
        </li>
      ))}
    </ol>
  )
}

function StepBody({
  step,
  progress,
  made,
  setMade,
  choose,
}: GuideProps & { step: Step; choose: (step: Step) => void }) {
  const { sender, own, done } = progress
  const from = sender ? `hello@${sender}` : undefined
  const missing = <DomainFirst own={own} addDomain={() => choose('domain')} />
  const bodies: Record<Step, () => ReactNode> = {
    send: () => (from === undefined ? missing : <SendStep from={from} />),
    domain: () => (
      <div className="pw-form">
        <AddDomain />
      </div>
    ),
    verify: () => (own === undefined ? missing : <VerifyStep domain={own} verified={done.has('verify')} />),
    use: () => <AccessStep made={made} setMade={setMade} />,
    bounce: () => (from === undefined ? missing : <SimulationStep kind="bounce" from={from} />),
    defer: () => (from === undefined ? missing : <SimulationStep kind="defer" from={from} />),
  }
  return bodies[step]()
}

function SendStep({ from }: { from: string }) {
  const { t } = useTranslation()
  const { email } = useAccount()
  const trial = useTrial()
  return (
    <Stack gap="md">
      <Text fz="sm">
        {t(trial ? 'start.sendTrial' : 'start.sendReal')}{' '}
        {trial ? (
          <Link to="/inbox" className="pw-link">
            {t('nav.inbox')}
          </Link>
        ) : null}
      </Text>
      <SendForm key={from} from={from} to={email ?? (trial ? 'you@example.org' : '')} />
    </Stack>
  )
}

function VerifyStep({ domain, verified }: { domain: string; verified: boolean }) {
  const { t } = useTranslation()
  return (
    <Stack gap="md">
      {verified ? <Note tone="ok">{t('start.verified', { domain })}</Note> : null}
      <Text fz="sm">{t('start.verifyText', { domain })}</Text>
      <Group>
        <Button renderRoot={rest => <Link {...rest} to="/domains/$id" params={{ id: domain }} />}>
          {t('start.openDomain')}
        </Button>
      </Group>
    </Stack>
  )
}
