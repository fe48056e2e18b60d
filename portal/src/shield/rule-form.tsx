// The form of one rule. Its limits come from the schema of the request; the server checks the whole list before it is applied.
import { Autocomplete, Button, Group, Modal, SegmentedControl, Select, Stack, Input } from '@mantine/core'
import { NewShieldRule } from '@pharos/contract/shield/shield'
import { useState } from 'react'
import { rate } from '../profile/rate-field.tsx'
import { number, select } from '../ui/form-widgets.tsx'
import { inputProps, text } from '../ui/form-text-widgets.tsx'
import { Field, FormProblem, useRequestForm, type FieldDeclaration, type WidgetProps } from '../ui/form.tsx'
import { SubmitButton } from '../ui/submit-button.tsx'
import { formatTime, useZone } from '../ui/time.tsx'
import type { RuleContent } from './rule-draft.ts'
import classes from './shield.module.css'
import { words } from './words.ts'

const { form: texts } = words

/** Texts and numbers are `''` if they are empty. */
type Values = {
  action: string
  protocol: string
  source: string
  source_port: string
  destination: string
  destination_port: string
  tcp_flags: string
  icmp_type: number | ''
  icmp_code: number | ''
  fragment: string
  packet_length: string
  dscp: number | ''
  rate_bps: number | null
  rate_pps: number | null
  comment: string
  expires: string
}

const valuesOf = (rule: RuleContent): Values => ({
  action: rule.action,
  protocol: rule.protocol,
  fragment: rule.fragment,
  rate_bps: rule.rate_bps,
  rate_pps: rule.rate_pps,
  comment: rule.comment,
  source: rule.source ?? '',
  source_port: rule.source_port ?? '',
  destination: rule.destination ?? '',
  destination_port: rule.destination_port ?? '',
  tcp_flags: rule.tcp_flags ?? '',
  icmp_type: rule.icmp_type ?? '',
  icmp_code: rule.icmp_code ?? '',
  packet_length: rule.packet_length ?? '',
  dscp: rule.dscp ?? '',
  expires: rule.expires ?? '',
})

/** Conditions that the protocol does not have are left out. */
function contentFrom(values: Values, enabled: boolean): RuleContent {
  const line = (value: unknown) =>
    String(value).replaceAll(/\s+/g, '') === '' ? null : String(value).replaceAll(/\s+/g, '')
  const whole = (value: unknown) => (value === '' || value === null ? null : Number(value))
  const protocol = protocolOf(values.protocol)
  const { hasPorts, hasFlags, hasType } = conditionsOf(protocol)
  const isLimit = values.action === 'rate_limit'
  return {
    enabled,
    action: values.action as RuleContent['action'],
    protocol,
    source: line(values.source),
    source_port: hasPorts ? line(values.source_port) : null,
    destination: line(values.destination),
    destination_port: hasPorts ? line(values.destination_port) : null,
    tcp_flags: hasFlags ? (line(values.tcp_flags)?.toLowerCase() ?? null) : null,
    icmp_type: hasType ? whole(values.icmp_type) : null,
    icmp_code: hasType ? whole(values.icmp_code) : null,
    fragment: values.fragment as RuleContent['fragment'],
    packet_length: line(values.packet_length),
    dscp: whole(values.dscp),
    rate_bps: isLimit ? values.rate_bps : null,
    rate_pps: isLimit ? values.rate_pps : null,
    comment: values.comment.trim(),
    expires: values.expires === '' ? null : expiryTime(values.expires),
  }
}

const labelsOfProtocols = Object.entries(words.protocols)

/** Returns the protocol of the API for a name or a number. */
const protocolOf = (typed: string): string => {
  const wanted = typed.trim().toLowerCase()
  const named = labelsOfProtocols.find(([value, label]) => value === wanted || label.toLowerCase() === wanted)
  return named?.[0] ?? ({ '6': 'tcp', '17': 'udp' } as Readonly<Record<string, string>>)[wanted] ?? wanted
}

/** Ports require TCP, UDP or any protocol. */
const conditionsOf = (protocol: string) => ({
  hasPorts: protocol === 'tcp' || protocol === 'udp' || protocol === 'any',
  hasFlags: protocol === 'tcp',
  hasType: protocol === 'icmp' || protocol === '1' || protocol === '58',
})

const hourMs = 3_600_000

/** `+24` is in 24 hours; otherwise a time as it is. */
const expiryTime = (value: string): string =>
  value.startsWith('+') ? new Date(Date.now() + Number(value.slice(1)) * hourMs).toISOString() : value

const protocolField: FieldDeclaration = {
  label: texts.protocol,
  Widget: (props) => {
    const input = inputProps(props)
    const value = String(props.input.value)
    const label = (words.protocols as Readonly<Record<string, string>>)[value]
    return (
      <Autocomplete
        {...input}
        data={labelsOfProtocols.map(([, name]) => name)}
        filter={({ options }) => options}
        value={label ?? value}
        onChange={(typed) => props.input.onChange(protocolOf(typed))}
      />
    )
  },
}

const actionField: FieldDeclaration = {
  label: texts.action,
  help: texts.actionHelp,
  Widget: ({ label, description, input }) => (
    <Input.Wrapper
      label={label}
      description={description}
      inputWrapperOrder={['label', 'input', 'description']}
    >
      <div>
        <SegmentedControl
          aria-label={texts.action}
          data={Object.entries(words.actions).map(([value, name]) => ({ value, label: name }))}
          value={String(input.value)}
          onChange={(next) => input.onChange(next)}
        />
      </div>
    </Input.Wrapper>
  ),
}

const expiryField: FieldDeclaration = {
  label: texts.expires,
  help: texts.expiresHelp,
  required: false,
  Widget: (props) => <ExpirySelect {...props} />,
}

function ExpirySelect(props: WidgetProps) {
  const [zone] = useZone()
  const [initial] = useState(() => String(props.input.value))
  const isTime = initial !== '' && !initial.startsWith('+')
  return (
    <Select
      {...inputProps(props)}
      allowDeselect={false}
      data={[
        { value: 'never', label: texts.never },
        ...(isTime ? [{ value: initial, label: texts.keep(formatTime(initial, zone)) }] : []),
        ...[1, 6, 24].map((hours) => ({ value: `+${hours}`, label: texts.inHours(hours) })),
        ...[7, 30].map((days) => ({ value: `+${days * 24}`, label: texts.inDays(days) })),
      ]}
      value={props.input.value === '' ? 'never' : String(props.input.value)}
      onChange={(next) => props.input.onChange(next === 'never' ? '' : next)}
    />
  )
}

const port = (label: string) => text({ label, help: texts.portHelp, placeholder: '53,123', mono: true })

const declared = {
  action: actionField,
  rate_bps: rate({ label: texts.limitBits, of: 'bps' }),
  rate_pps: rate({ label: texts.limitPackets, of: 'pps' }),
  protocol: protocolField,
  source: text({ label: texts.source, help: texts.sourceHelp, mono: true }),
  source_port: port(texts.sourcePort),
  destination: text({ label: texts.destination, mono: true }),
  destination_port: port(texts.destinationPort),
  tcp_flags: text({ label: texts.flags, help: texts.flagsHelp, placeholder: 'syn,!ack', mono: true }),
  icmp_type: number({ label: texts.icmpType }),
  icmp_code: number({ label: texts.icmpCode }),
  fragment: select({
    label: texts.fragment,
    data: Object.entries(words.fragments).map(([value, label]) => ({ value, label })),
  }),
  packet_length: text({ label: texts.length, help: texts.lengthHelp, placeholder: '0-100', mono: true }),
  dscp: number({ label: texts.dscp }),
  comment: text({ label: texts.comment }),
  expires: expiryField,
}

type RuleFormProps = {
  readonly prefix: string
  /** The rule to edit. */
  readonly rule: RuleContent
  readonly isNew: boolean
  readonly onSave: (rule: RuleContent) => void
  readonly onClose: () => void
}

function useRuleForm(prefix: string, rule: RuleContent, onSave: RuleFormProps['onSave']) {
  return useRequestForm<Values, RuleContent>({
    initialValues: valuesOf(rule),
    route: { method: 'POST', body: NewShieldRule },
    declared: { ...declared, destination: { ...declared.destination, help: texts.destinationHelp(prefix) } },
    request: (values) => Promise.resolve(contentFrom(values, rule.enabled)),
    onSuccess: onSave,
    validate: (values): Record<string, string> => {
      if (values.action !== 'rate_limit') return {}
      const given = [values.rate_bps, values.rate_pps].filter((one) => one !== null && one > 0)
      return given.length === 1 ? {} : { rate_bps: given.length === 0 ? texts.limitMissing : texts.limitBoth }
    },
  })
}

/** A rule in a dialog; saving changes only the draft of the list. */
export function RuleForm({ prefix, rule, isNew, onSave, onClose }: RuleFormProps) {
  const form = useRuleForm(prefix, rule, onSave)
  const { values } = form.fields
  const { hasPorts, hasFlags, hasType } = conditionsOf(protocolOf(String(values.protocol)))
  const [hasMore, setMore] = useState(
    rule.fragment !== 'any' || rule.packet_length !== null || rule.dscp !== null,
  )
  return (
    <Modal
      opened
      onClose={onClose}
      title={isNew ? texts.add : texts.edit}
      size="lg"
      closeOnClickOutside={!form.isUnsaved()}
    >
      <form onSubmit={form.submit} noValidate>
        <Stack>
          <Field form={form} name="action" />
          {values.action === 'rate_limit' && (
            <div className={classes['fields']} aria-label={texts.limitHelp} role="group">
              <Field form={form} name="rate_bps" />
              <Field form={form} name="rate_pps" />
            </div>
          )}
          <Field form={form} name="protocol" />
          <div className={classes['fields']}>
            <Field form={form} name="source" />
            {hasPorts && <Field form={form} name="source_port" />}
            <Field form={form} name="destination" />
            {hasPorts && <Field form={form} name="destination_port" />}
            {hasFlags && <Field form={form} name="tcp_flags" />}
            {hasType && <Field form={form} name="icmp_type" />}
            {hasType && <Field form={form} name="icmp_code" />}
          </div>
          {hasMore ? (
            <div className={classes['fields']}>
              <Field form={form} name="packet_length" />
              <Field form={form} name="fragment" />
              <Field form={form} name="dscp" />
            </div>
          ) : (
            <Group>
              <Button size="compact-sm" variant="subtle" onClick={() => setMore(true)}>
                {texts.more}
              </Button>
            </Group>
          )}
          <div className={classes['fields']}>
            <Field form={form} name="comment" />
            <Field form={form} name="expires" />
          </div>
          <FormProblem form={form} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <SubmitButton form={form}>{texts.save}</SubmitButton>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
