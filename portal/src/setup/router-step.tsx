// Connects a router: a region with one speaker, and its location. Whether the router answers is shown as the reconciler finds it.
import { listPlatformElementsRoute } from '@pharos/contract/operator/platform'
import { listAdminRegionsRoute, type AdminRegion } from '@pharos/contract/operator/region'
import { useState } from 'react'
import { invalidate, useAnswer } from '../api/queries.ts'
import { applyForm } from '../platform/plan-request.ts'
import { text } from '../ui/form-text-widgets.tsx'
import { country, select, timeZone, toggle } from '../ui/form-widgets.tsx'
import { Field, FormLayout, FormSection, useRequestForm } from '../ui/form.tsx'
import { routerChanges, shortNameOf } from './setup-changes.ts'
import { ConnectStep, Moves, type Connected, type StepProps } from './step-parts.tsx'
import { words } from './words.ts'

const { region: t } = words

const declaredFor = (isRouter: boolean) => ({
  kind: select({
    label: t.kind,
    required: true,
    data: Object.entries(t.kinds).map(([value, label]) => ({ value, label })),
  }),
  address: text({
    label: t.address,
    help: t.addressHelp,
    placeholder: '127.0.0.1:50051',
    mono: true,
    required: isRouter,
  }),
  owner: text({
    label: t.owner,
    help: t.ownerHelp,
    placeholder: '64500:1:1',
    mono: true,
    required: isRouter,
  }),
  insecure: toggle({ label: t.insecure, help: t.insecureHelp }),
  next_hop4: text({ label: t.nextHop4, placeholder: '192.0.2.1', mono: true }),
  next_hop6: text({ label: t.nextHop6, placeholder: '2001:db8::1', mono: true }),
  name: text({ label: t.name, placeholder: 'Amsterdam', required: true }),
  slug: text({ label: t.slug, help: t.slugHelp, required: true, mono: true }),
  country: country({ label: t.country, required: true }),
  timezone: timeZone({ label: t.timezone, required: true }),
})
const declarations = { gobgp: declaredFor(true), sandbox: declaredFor(false) } as const

export function RouterStep(moves: StepProps) {
  const answer = useAnswer(listAdminRegionsRoute, { query: { limit: 1000 } }, { refetchInterval: 2_000 })
  return (
    <ConnectStep
      {...moves}
      answer={answer}
      elementsOf={({ results }) => results.map(connectedOf)}
      title={t.title}
      another={t.another}
      form={(onCreated) => <RouterForm {...moves} onCreated={onCreated} />}
    />
  )
}

/** The routers answer: their sessions with neighbors are no part of the setup. */
function connectedOf({ slug, name, open, error, routers }: AdminRegion): Connected {
  const failed = routers.find((one) => one.last_check_result === false)
  const isChecked = routers.every((one) => one.last_check_result !== null)
  const about = { key: slug, name }
  if (failed || error !== null)
    return { ...about, color: 'bad', state: t.failed, text: failed?.error ?? error ?? '' }
  if (!isChecked) return { ...about, color: 'info', state: t.checking, text: t.waiting }
  return { ...about, color: 'ok', state: t.connected, text: open ? t.ready : t.closed }
}

type Software = keyof typeof declarations
type RouterFormProps = StepProps & { readonly onCreated: () => void }

function RouterForm({ onCreated, ...moves }: RouterFormProps) {
  const [software, setSoftware] = useState<Software>('gobgp')
  const { data } = useAnswer(listPlatformElementsRoute, {
    params: { section: 'locations' },
    query: { limit: 1000 },
  })
  const form = useRequestForm({
    initialValues: {
      kind: 'gobgp',
      address: '',
      owner: '',
      insecure: false,
      next_hop4: '',
      next_hop6: '',
      name: '',
      slug: '',
      country: '',
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    },
    declared: declarations[software],
    request: (fields) => applyForm(routerChanges(fields, data?.results.map(({ key }) => key) ?? [])),
    async onSuccess() {
      await invalidate(listAdminRegionsRoute)
      onCreated()
    },
  })
  const { kind, name, slug } = form.fields.values
  if (kind !== software) setSoftware(kind as Software)
  const suggestSlug = () => {
    if (slug === '') form.fields.setFieldValue('slug', shortNameOf(name))
  }
  return (
    <FormLayout form={form} action={t.create} cancel={<Moves {...moves} />}>
      <FormSection title={t.title} help={t.help}>
        <Field form={form} name="kind" />
        {kind === 'gobgp' &&
          (['address', 'insecure', 'owner', 'next_hop4', 'next_hop6'] as const).map((one) => (
            <Field key={one} form={form} name={one} />
          ))}
      </FormSection>
      <FormSection title={t.place} help={t.placeHelp}>
        <div onBlur={suggestSlug}>
          <Field form={form} name="name" />
        </div>
        <Field form={form} name="slug" />
        <Field form={form} name="country" />
        <Field form={form} name="timezone" />
      </FormSection>
    </FormLayout>
  )
}
