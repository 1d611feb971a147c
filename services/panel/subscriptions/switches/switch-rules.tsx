/** Editor of targeting rules; the first matching rule applies. */
import { ActionIcon, Button, Group, NumberInput, Select, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { ListErrors, useNestedErrors } from '../../ui/forms/nested-errors.tsx'
import type { SwitchType } from './switch-fields.ts'
import {
  COMPARATORS,
  type ConditionFields,
  moveEntry,
  newCondition,
  newRule,
  nextKey,
  type RuleFields,
} from './switch-targets.ts'
import { OptionalValue } from './switch-value-fields.tsx'

/** `type`: of the switch, and so of the values of its rules. */
export function RulesEditor(props: { type: SwitchType; rules: RuleFields[]; set: (rules: RuleFields[]) => void }) {
  const { type, rules, set } = props
  const { t } = useTranslation()
  const change = (key: number, part: Partial<RuleFields>) =>
    set(rules.map(rule => (rule.key === key ? { ...rule, ...part } : rule)))
  return (
    <fieldset className="pw-fieldset">
      <legend>{t('subs.rules')}</legend>
      <div className="pw-sub">{t('subs.rulesHint')}</div>
      <ListErrors of="rules" />
      <Stack gap="sm" mt="xs">
        {rules.map((rule, index) => (
          <Rule
            key={rule.key}
            type={type}
            rule={rule}
            number={index + 1}
            change={part => change(rule.key, part)}
            remove={() => set(rules.filter(({ key }) => key !== rule.key))}
            up={index > 0 ? () => set(moveEntry(rules, index, -1)) : undefined}
            down={index < rules.length - 1 ? () => set(moveEntry(rules, index, 1)) : undefined}
          />
        ))}
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            onClick={() => set([...rules, newRule(nextKey(rules))])}
          >
            {t('subs.addRule')}
          </Button>
        </Group>
      </Stack>
    </fieldset>
  )
}

interface RuleProps {
  type: SwitchType
  rule: RuleFields
  number: number
  change: (part: Partial<RuleFields>) => void
  remove: () => void
  /** Undefined for the first rule. */
  up: (() => void) | undefined
  /** Undefined for the last rule. */
  down: (() => void) | undefined
}

function Rule(props: RuleProps) {
  const { t } = useTranslation()
  const { rule, number, change } = props
  const errorAt = useNestedErrors()
  const path = `rules.${number - 1}`
  const conditions = rule.conditions
  const changeCondition = (key: number, part: Partial<ConditionFields>) =>
    change({ conditions: conditions.map(condition => (condition.key === key ? { ...condition, ...part } : condition)) })
  const name = t('subs.rule', { number })
  return (
    <section className="pw-card pw-pad" aria-label={name}>
      <RuleHeader {...props} placeholder={name} />
      <Stack gap="xs">
        {conditions.map((condition, index) => (
          <RuleCondition
            key={condition.key}
            condition={condition}
            path={`${path}.conditions.${index}`}
            change={part => changeCondition(condition.key, part)}
            remove={
              conditions.length > 1
                ? () => change({ conditions: conditions.filter(({ key }) => key !== condition.key) })
                : undefined
            }
          />
        ))}
        <Group>
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => change({ conditions: [...conditions, newCondition(nextKey(conditions))] })}
          >
            {t('subs.addCondition')}
          </Button>
        </Group>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
          <OptionalValue
            type={props.type}
            value={rule.value}
            set={value => change({ value })}
            unset={t('subs.valueOfSwitch')}
            input={{ label: t('subs.ruleValue'), description: t('subs.ruleValueHint'), ...errorAt(`${path}.value`) }}
          />
          <NumberInput
            label={t('subs.rollout')}
            description={t('subs.ruleRolloutHint')}
            suffix=" %"
            min={0}
            max={100}
            decimalScale={3}
            value={rule.rollout}
            onChange={rollout => change({ rollout: String(rollout) })}
            {...errorAt(`${path}.rollout`)}
          />
        </SimpleGrid>
      </Stack>
    </section>
  )
}

function RuleHeader({ rule, number, change, remove, up, down, placeholder }: RuleProps & { placeholder: string }) {
  const { t } = useTranslation()
  const errorAt = useNestedErrors()
  return (
    <Group align="flex-end" gap="xs" mb="xs" wrap="nowrap">
      <TextInput
        label={t('subs.ruleName')}
        placeholder={placeholder}
        value={rule.name}
        onChange={event => change({ name: event.currentTarget.value })}
        {...errorAt(`rules.${number - 1}.name`)}
        style={{ flex: 1 }}
      />
      <ActionIcon variant="subtle" color="gray" size="lg" onClick={up} disabled={!up} aria-label={t('subs.ruleUp')}>
        <IconArrowUp size={16} />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        onClick={down}
        disabled={!down}
        aria-label={t('subs.ruleDown')}
      >
        <IconArrowDown size={16} />
      </ActionIcon>
      <ActionIcon variant="subtle" color="stamp" size="lg" onClick={remove} aria-label={t('subs.removeRule')}>
        <IconTrash size={16} />
      </ActionIcon>
    </Group>
  )
}

function RuleCondition(props: {
  condition: ConditionFields
  /** Of the condition in the request. */
  path: string
  change: (part: Partial<ConditionFields>) => void
  remove: (() => void) | undefined
}) {
  const { t } = useTranslation()
  const { condition, path, change, remove } = props
  const errorAt = useNestedErrors()
  return (
    <Group align="flex-end" gap="xs" wrap="wrap">
      <TextInput
        label={t('subs.attribute')}
        placeholder="platform"
        value={condition.attribute}
        onChange={event => change({ attribute: event.currentTarget.value })}
        {...errorAt(`${path}.attribute`)}
        style={{ flex: '1 1 130px' }}
      />
      <Select
        label={t('subs.operator')}
        data={COMPARATORS.map(value => ({ value, label: t(`subs.operators.${value}`) }))}
        value={condition.operator}
        allowDeselect={false}
        onChange={value => change({ operator: COMPARATORS.find(known => known === value) ?? 'eq' })}
        {...errorAt(`${path}.operator`)}
        style={{ flex: '1 1 130px' }}
      />
      <TextInput
        label={t('subs.values')}
        placeholder="ios, android"
        value={condition.values}
        onChange={event => change({ values: event.currentTarget.value })}
        {...errorAt(`${path}.values`)}
        style={{ flex: '2 1 160px' }}
      />
      {remove ? (
        <ActionIcon variant="subtle" color="stamp" size="lg" onClick={remove} aria-label={t('subs.removeCondition')}>
          <IconTrash size={16} />
        </ActionIcon>
      ) : null}
    </Group>
  )
}
