// Creating a zone: edited here, or copied from other name servers.
import { createZoneRoute, zoneKinds, type ZoneKind } from '@pharos/contract/dns/zone'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../api/call.ts'
import { FormPage } from '../ui/form-page.tsx'
import { text } from '../ui/form-text-widgets.tsx'
import { networks, number, select, toggle } from '../ui/form-widgets.tsx'
import { Field, FormSection, useRequestForm } from '../ui/form.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { ClaimProof } from './claim-proof.tsx'
import { words } from './words.ts'
import { invalidateZones } from './zone-queries.ts'

const { create: texts } = words

const declared = {
  name: text({ label: texts.name, help: texts.nameHelp, placeholder: 'example.com', autoComplete: 'off' }),
  kind: select({
    label: texts.kind,
    help: texts.kindHelp,
    required: true,
    data: zoneKinds.map((value) => ({ value, label: words.kind[value] })),
  }),
  dnssec: toggle({ label: texts.dnssec, help: texts.dnssecHelp }),
  primaries: networks({ label: texts.primaries, help: texts.primariesHelp, placeholder: '192.0.2.53' }),
  tsig_key: text({ label: texts.key, help: texts.keyHelp, autoComplete: 'off' }),
  ttl: number({ label: texts.ttl, help: texts.ttlHelp, unit: texts.seconds }),
}

const initialValues = {
  name: '',
  kind: 'primary' as ZoneKind,
  dnssec: true,
  primaries: [] as string[],
  tsig_key: '',
  ttl: '' as number | '',
}
type Values = typeof initialValues

/** A secondary zone is not signed here; a primary one is transferred from nowhere. */
const bodyOf = ({ name, kind, dnssec, primaries, tsig_key: key, ttl }: Values) => ({
  name: name.trim(),
  kind,
  ...(kind === 'primary' ? { dnssec } : { primaries: primaries.map((address) => ({ address })) }),
  ...(kind === 'secondary' && key !== '' ? { tsig_key: key } : {}),
  ...(kind === 'primary' && ttl !== '' ? { ttl } : {}),
})

export function NewZone() {
  const navigate = useNavigate()
  const form = useRequestForm({
    initialValues,
    route: createZoneRoute,
    declared,
    validate: ({ kind, primaries }): Record<string, string> =>
      kind === 'secondary' && primaries.length === 0
        ? { primaries: `${texts.primaries} ${texts.primariesNeeded}.` }
        : {},
    // An error, such as the claim on a name, is valid only for the sent values.
    onValuesChange: () => form.error && form.clearResult(),
    request: async (values) => (await call(createZoneRoute, { body: bodyOf(values) })).body,
    onSuccess: async ({ id, name }) => {
      await invalidateZones()
      notifySuccess(texts.done(name))
      await navigate({ to: '/zones/$id', params: { id: String(id) } })
    },
  })
  const isSecondary = form.fields.values.kind === 'secondary'
  return (
    <FormPage
      title={texts.title}
      note={texts.note}
      form={form}
      action={texts.action}
      cancel={
        <ButtonLink to="/zones" variant="default">
          {words.cancel}
        </ButtonLink>
      }
    >
      <FormSection title={texts.zone}>
        <Field form={form} name="name" autoFocus />
        <Field form={form} name="kind" />
        {!isSecondary && <Field form={form} name="dnssec" />}
      </FormSection>
      {isSecondary ? (
        <FormSection title={texts.transfers} help={texts.transfersHelp}>
          <Field form={form} name="primaries" />
          <Field form={form} name="tsig_key" />
        </FormSection>
      ) : (
        <FormSection title={texts.options}>
          <Field form={form} name="ttl" />
        </FormSection>
      )}
      <ClaimProof error={form.error} onVerified={() => form.submit()} />
    </FormPage>
  )
}
