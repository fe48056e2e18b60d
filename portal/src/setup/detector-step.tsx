// Adds a detector: the source of its deliveries, with a random secret that is shown once.
import { Stack, Text } from '@mantine/core'
import { listSourcesRoute, type DetectorSource } from '@pharos/contract/events/delivery'
import { useState } from 'react'
import { invalidate, useAnswer } from '../api/queries.ts'
import { applyForm } from '../platform/plan-request.ts'
import { CopyBlock } from '../ui/copy.tsx'
import { text } from '../ui/form-text-widgets.tsx'
import { select } from '../ui/form-widgets.tsx'
import { Field, FormLayout, FormSection, useRequestForm } from '../ui/form.tsx'
import { Secret } from '../ui/secret.tsx'
import { Section } from '../ui/section.tsx'
import { detectorChanges } from './setup-changes.ts'
import { ConnectStep, Moves, type Connected, type StepProps } from './step-parts.tsx'
import { words } from './words.ts'

const { detector: t } = words

const declared = {
  kind: select({
    label: t.kind,
    help: t.other,
    required: true,
    data: Object.entries(t.kinds).map(([value, label]) => ({ value, label })),
  }),
  name: text({ label: t.name, required: true }),
  key: text({ label: t.key, help: t.keyHelp, required: true, mono: true }),
}

type Kind = keyof typeof t.kinds
type Created = { readonly kind: string; readonly key: string; readonly secret: string }

export function DetectorStep(moves: StepProps) {
  const answer = useAnswer(listSourcesRoute, { query: { limit: 1000 } }, { refetchInterval: 5_000 })
  const [created, setCreated] = useState<Created>()
  return (
    <ConnectStep
      {...moves}
      answer={answer}
      elementsOf={({ results }) => results.map(connectedOf)}
      title={t.title}
      another={t.another}
      form={(onCreated) => (
        <DetectorForm
          {...moves}
          onCreated={(one) => {
            setCreated(one)
            onCreated()
          }}
        />
      )}
    >
      {created && <Deliver created={created} />}
    </ConnectStep>
  )
}

function connectedOf({ key, name, kind, failing, last_delivery }: DetectorSource): Connected {
  const about = { key, name, text: t.kinds[kind as Kind] ?? kind }
  if (failing) return { ...about, color: 'bad', state: t.failing }
  return last_delivery === null
    ? { ...about, color: 'info', state: t.waiting }
    : { ...about, color: 'ok', state: t.received }
}

/** 24 random bytes. */
const newSecret = (): string =>
  btoa(String.fromCodePoint(...crypto.getRandomValues(new Uint8Array(24))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')

type DetectorFormProps = StepProps & { readonly onCreated: (created: Created) => void }

function DetectorForm({ onCreated, ...moves }: DetectorFormProps) {
  const form = useRequestForm({
    initialValues: { kind: 'fastnetmon', name: t.kinds.fastnetmon as string, key: 'fastnetmon' },
    declared,
    async request(fields) {
      const secret = newSecret()
      await applyForm(detectorChanges(fields, secret))
      return { ...fields, secret }
    },
    async onSuccess(created) {
      await invalidate(listSourcesRoute)
      onCreated(created)
    },
  })
  const { kind } = form.fields.values
  const [last, setLast] = useState(kind)
  // The name and the key follow the kind until they are changed.
  if (kind !== last) {
    setLast(kind)
    if (form.fields.values.key === last)
      form.fields.setValues({ key: kind, name: t.kinds[kind as Kind] ?? kind })
  }
  return (
    <FormLayout form={form} action={t.create} cancel={<Moves {...moves} />}>
      <FormSection title={t.title} help={t.help}>
        <Field form={form} name="kind" />
        <Field form={form} name="name" />
        <Field form={form} name="key" />
      </FormSection>
    </FormLayout>
  )
}

function Deliver({ created: { kind, key, secret } }: { created: Created }) {
  if (kind === 'flows') return <Text size="sm">{t.flowsText}</Text>
  return (
    <Section title={t.kinds[kind as Kind] ?? kind}>
      <Stack gap="xs">
        <Text size="sm">{t.sendTo}</Text>
        <CopyBlock text={`${location.origin}/v3/ingest/events/${key}`} />
        <Text size="sm">{t.withSecret}</Text>
        <Secret text={secret} name={t.secret} />
      </Stack>
    </Section>
  )
}
