// Creates a customer: the team, its first admin, and what it holds. One plan of all elements is reviewed and applied; the invitation
// follows it.
import { Alert, Button, Stack } from '@mantine/core'
import { serviceTypes } from '@pharos/contract/inventory/service'
import {
  listPlatformElementsRoute,
  listPlatformKindsRoute,
  type PlatformPlan,
} from '@pharos/contract/operator/platform'
import { inviteFirstAdminRoute, listCustomersRoute, type Customer } from '@pharos/contract/operator/team'
import { slugOf } from '@pharos/contract/slug'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { call } from '../api/call.ts'
import { useAnswer } from '../api/queries.ts'
import { OpenAsTeam } from '../staff/customer-view.tsx'
import { FormPage } from '../ui/form-page.tsx'
import { email, text } from '../ui/form-text-widgets.tsx'
import { multiSelect, networks, number, select } from '../ui/form-widgets.tsx'
import { Field, FormSection, useRequestForm, type RequestForm } from '../ui/form.tsx'
import { ButtonLink, TextLink } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { words as uiWords } from '../ui/words.ts'
import { changesOf, type NewCustomer } from './customer-plan.ts'
import { PlanStep } from './element-dialog.tsx'
import type { Changes } from './form-change.ts'
import { planForm } from './plan-request.ts'
import { fieldLabel, words } from './words.ts'

const { customer: t } = words

const start: NewCustomer = {
  name: '',
  slug: '',
  modules: [],
  email: '',
  prefixes: [],
  asn: '',
  service: '',
  service_type: 'transit',
  commit_bps: '',
  circuit_id: '',
  device: '',
  interface: '',
}

const declaredWith = (modules: readonly string[], devices: readonly string[]) => ({
  name: text({ label: t.name, required: true }),
  slug: text({ label: t.slug, required: true, mono: true }),
  modules: multiSelect({
    label: t.modules,
    help: t.modulesHelp,
    data: modules.map((value) => ({ value, label: fieldLabel(value) })),
  }),
  email: email({ label: t.email, placeholder: 'ann@example.net' }),
  prefixes: networks({ label: t.prefixes }),
  asn: number({ label: t.asn }),
  service: text({ label: t.service, placeholder: 'Transit Amsterdam' }),
  service_type: select({
    label: t.serviceType,
    required: true,
    data: serviceTypes.map((value) => ({ value, label: fieldLabel(value) })),
  }),
  commit_bps: number({ label: t.commit }),
  circuit_id: text({ label: t.circuit, placeholder: 'AMS-0017' }),
  device: select({ label: t.device, data: devices.map((value) => ({ value, label: value })), limit: 60 }),
  interface: text({ label: t.interface, placeholder: 'et-0/0/1' }),
})

type Planned = { readonly changes: Changes; readonly plan: PlatformPlan; readonly customer: NewCustomer }

async function planCustomer(customer: NewCustomer): Promise<Planned> {
  const all = changesOf(customer)
  return { ...(await planForm(all)), customer }
}

/** What the schema of no single operation says. */
function mistakesIn({ circuit_id: circuit, device, interface: name, service }: NewCustomer) {
  return circuit !== '' && (device === '' || name === '' || service === '')
    ? { circuit_id: `${t.circuit} ${service === '' ? t.needsService : t.needsDevice}.` }
    : {}
}

type CustomerForm = RequestForm<NewCustomer & Record<string, unknown>, Planned>

function useCustomerForm(onPlanned: (planned: Planned) => void): CustomerForm {
  const kinds = useAnswer(listPlatformKindsRoute, {}).data?.kinds
  const devices = useAnswer(listPlatformElementsRoute, {
    params: { section: 'devices' },
    query: { limit: 1000 },
  }).data?.results
  // A widget keeps its state only while its declaration stays the same.
  const declared = useMemo(() => {
    const teams = kinds?.find(({ section }) => section === 'teams')
    const modules = teams?.fields.find(({ name }) => name === 'modules')?.choices
    return declaredWith(modules ?? [], devices?.map(({ key }) => key) ?? [])
  }, [kinds, devices])
  return useRequestForm<NewCustomer & Record<string, unknown>, Planned>({
    initialValues: start,
    declared,
    request: planCustomer,
    validate: mistakesIn,
    onSuccess: onPlanned,
  })
}

export function NewCustomerPage() {
  const [planned, setPlanned] = useState<Planned>()
  const [created, setCreated] = useState<NewCustomer>()
  const form = useCustomerForm(setPlanned)
  if (created) return <Created customer={created} />
  if (!planned) return <FieldsPage form={form} />
  return (
    <Page title={t.title} note={words.planTitle}>
      <PlanStep
        planned={planned}
        back={
          <Button variant="default" onClick={() => setPlanned(undefined)}>
            {words.change}
          </Button>
        }
        onApplied={() => setCreated(planned.customer)}
      />
    </Page>
  )
}

function FieldsPage({ form }: { form: CustomerForm }) {
  const { name, slug } = form.fields.values
  const suggestSlug = () => {
    if (slug === '' && name !== '') form.fields.setFieldValue('slug', slugOf(name))
  }
  return (
    <FormPage
      title={t.title}
      note={t.note}
      form={form}
      action={words.review}
      cancel={
        <ButtonLink to="/staff/customers" variant="default">
          {uiWords.cancel}
        </ButtonLink>
      }
    >
      <FormSection title={t.team} help={t.teamHelp}>
        <div onBlur={suggestSlug}>
          <Field form={form} name="name" autoFocus />
        </div>
        <Field form={form} name="slug" />
        <Field form={form} name="modules" />
      </FormSection>
      <FormSection title={t.access} help={t.accessHelp}>
        <Field form={form} name="email" />
      </FormSection>
      <FormSection title={t.network} help={t.networkHelp}>
        <Field form={form} name="prefixes" />
        <Field form={form} name="asn" />
      </FormSection>
      <FormSection title={t.port} help={t.portHelp}>
        {(['service', 'service_type', 'commit_bps', 'circuit_id', 'device', 'interface'] as const).map(
          (one) => (
            <Field key={one} form={form} name={one} />
          ),
        )}
      </FormSection>
    </FormPage>
  )
}

/** The customer exists; the invitation is sent when the page opens, and again on request. */
function Created({ customer: { name, slug, email: address, modules } }: { customer: NewCustomer }) {
  const found = useAnswer(listCustomersRoute, { query: { search: slug } })
  const team = found.data?.results.find((one) => one.slug === slug)
  return (
    <Page title={t.done(name.trim())}>
      {found.error && <Problem error={found.error} retry={found.refetch} />}
      {team && address !== '' && <Invitation team={team} address={address.trim()} />}
      {team && (
        <Section title={t.nextTitle}>
          <Stack gap="sm" align="flex-start">
            <div>{modules.includes('dns') ? t.zoneHelp : t.zoneNeedsDns}</div>
            {modules.includes('dns') && <OpenAsTeam customer={team} to={{ to: '/zones/new' }} />}
            <TextLink to="/staff/platform">{t.more}</TextLink>
            <TextLink to="/staff/customers/$id" params={{ id: String(team.id) }}>
              {t.open}
            </TextLink>
          </Stack>
        </Section>
      )}
    </Page>
  )
}

function Invitation({ team: { id }, address }: { team: Pick<Customer, 'id'>; address: string }) {
  const invite = useMutation({
    mutationFn: () => call(inviteFirstAdminRoute, { params: { team_id: id }, body: { email: address } }),
  })
  const { mutate } = invite
  // A repeat returns the open invitation, without another mail.
  useEffect(() => mutate(), [mutate])
  if (invite.error)
    return (
      <Stack gap="xs" align="flex-start">
        <Problem error={invite.error} />
        <Button variant="default" onClick={() => invite.mutate()}>
          {t.again}
        </Button>
      </Stack>
    )
  return invite.isSuccess ? <Alert color="ok">{t.invited(address)}</Alert> : null
}
