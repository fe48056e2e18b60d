// The settings of a zone: TTLs, SOA, transfers, safety. The whole set is sent with the ETag of the loaded version.
import { Skeleton } from '@mantine/core'
import { listTsigKeysRoute, type TsigKey } from '@pharos/contract/dns/tsig'
import {
  getZoneSettingsRoute,
  settingLimits,
  updateZoneSettingsRoute,
  type ZoneSettings,
} from '@pharos/contract/dns/settings'
import type { Zone } from '@pharos/contract/dns/zone'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { call } from '../api/call.ts'
import { queryClient, teamIdNow, useAnswer } from '../api/queries.ts'
import { onlyWith, useGrant } from '../api/use-grant.ts'
import { text } from '../ui/form-text-widgets.tsx'
import { multiSelect, networks, number, toggle, type Option } from '../ui/form-widgets.tsx'
import { Field, FormLayout, FormSection, useRequestForm } from '../ui/form.tsx'
import { useNewerVersion } from '../ui/newer-version.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { UnsavedGuard } from '../ui/unsaved-guard.tsx'
import { words } from './words.ts'
import { invalidateZones } from './zone-queries.ts'

const { settings: texts } = words

type Params = { readonly zone: string }
type Read = { readonly settings: ZoneSettings; readonly etag: string }

const keyOf = (params: Params) => [teamIdNow(), getZoneSettingsRoute.name, params]
const readOf = ({ body, headers }: { body: ZoneSettings; headers: Headers }): Read => ({
  settings: body,
  etag: headers.get('etag') ?? '*',
})

export function ZoneSettingsTab({ zone }: { zone: Zone }) {
  const params = { zone: String(zone.id) }
  const answer = useQuery({
    queryKey: keyOf(params),
    queryFn: async ({ signal }) => readOf(await call(getZoneSettingsRoute, { params, signal })),
  })
  const keys = useAnswer(listTsigKeysRoute, { query: { limit: 1000 } })
  const failed = [answer, keys].filter(({ error, data }) => error && !data)
  if (failed.length > 0)
    return <Problem error={failed[0]!.error} retry={() => Promise.all(failed.map((one) => one.refetch()))} />
  if (!answer.data || !keys.data) return <Skeleton height={320} radius="lg" />
  return <SettingsForm params={params} read={answer.data} keys={keys.data.results} />
}

const seconds = (name: keyof typeof texts & keyof Values, help: string) =>
  number({ label: texts[name] as string, help, required: true, unit: texts.seconds })

const within = (name: keyof typeof settingLimits): string => {
  const { minimum, maximum } = settingLimits[name]
  return `${minimum.toLocaleString('en')} to ${maximum.toLocaleString('en')} ${texts.seconds}.`
}

const fields = {
  default_ttl: seconds('default_ttl', texts.default_ttl_help),
  minimum_ttl: seconds('minimum_ttl', texts.minimum_ttl_help),
  negative_ttl: seconds('negative_ttl', texts.negative_ttl_help),
  rname: text({ label: texts.rname, help: texts.rnameHelp, required: true, mono: true }),
  refresh: seconds('refresh', within('refresh')),
  retry: seconds('retry', within('retry')),
  expire: seconds('expire', within('expire')),
  nameservers: networks({
    label: texts.nameservers,
    help: texts.nameserversHelp,
    required: true,
    placeholder: 'ns1.example.net.',
  }),
  also_notify: networks({
    label: texts.also_notify,
    help: texts.also_notify_help,
    placeholder: '192.0.2.53',
  }),
  allow_transfer: networks({ label: texts.allow_transfer, help: texts.allow_transfer_help }),
  apex_ns_editable: toggle({ label: texts.apex_ns_editable, help: texts.apex_ns_editable_help }),
  protect_delete: toggle({ label: texts.protect_delete, help: texts.protect_delete_help }),
  auto_ptr: toggle({ label: texts.auto_ptr, help: texts.auto_ptr_help }),
  multi_signer: toggle({ label: texts.multi_signer, help: texts.multi_signer_help }),
  history_days: number({
    label: texts.history_days,
    help: texts.history_days_help,
    required: true,
    unit: texts.days,
  }),
}

/** An unlisted key belongs to the provider. */
function keyOptions(keys: readonly TsigKey[], chosen: readonly number[]): Option[] {
  const listed = keys.map(({ id, name, algorithm }) => ({
    value: String(id),
    label: `${name} (${algorithm.replace('hmac-', 'HMAC-').toUpperCase()})`,
  }))
  const others = chosen
    .filter((id) => keys.every((one) => one.id !== id))
    .map((id) => ({ value: String(id), label: texts.keyOfProvider(id) }))
  return [...listed, ...others]
}

const declaredWith = (options: readonly Option[]) => ({
  ...fields,
  tsig_key_ids: multiSelect({
    label: texts.tsig_key_ids,
    help: options.length === 0 ? texts.noKeys : texts.tsig_key_ids_help,
    data: options,
  }),
})

const valuesOf = ({ soa, also_notify, ...rest }: ZoneSettings) => ({
  default_ttl: rest.default_ttl,
  minimum_ttl: rest.minimum_ttl,
  ...soa,
  nameservers: rest.nameservers,
  also_notify: also_notify.map(({ address, port = 53 }) => (port === 53 ? address : `${address}#${port}`)),
  allow_transfer: rest.allow_transfer,
  tsig_key_ids: rest.tsig_key_ids.map(String),
  apex_ns_editable: rest.apex_ns_editable,
  protect_delete: rest.protect_delete,
  auto_ptr: rest.auto_ptr,
  multi_signer: rest.multi_signer,
  history_days: rest.history_days,
})
type Values = ReturnType<typeof valuesOf>

function bodyOf(values: Values): ZoneSettings {
  const { rname, refresh, retry, expire, negative_ttl, also_notify, tsig_key_ids: keys, ...rest } = values
  return {
    ...rest,
    soa: { rname, refresh, retry, expire, negative_ttl },
    tsig_key_ids: keys.map(Number),
    also_notify: also_notify.map((text) => {
      const [address = '', port] = text.split('#')
      return port === undefined ? { address } : { address, port: Number(port) }
    }),
  }
}

type FormProps = { params: Params; read: Read; keys: readonly TsigKey[] }

function useSettingsForm({ params, read, keys }: FormProps) {
  const [base, setBase] = useState(read)
  const declared = useMemo(
    () => declaredWith(keyOptions(keys, base.settings.tsig_key_ids)),
    [keys, base.settings.tsig_key_ids],
  )
  const form = useRequestForm({
    initialValues: valuesOf(read.settings),
    route: updateZoneSettingsRoute,
    declared,
    validate: ({ retry, refresh, minimum_ttl: least, default_ttl: ttl }): Record<string, string> => ({
      ...(retry >= refresh ? { retry: texts.retryTooLong } : {}),
      ...(least > ttl ? { minimum_ttl: texts.minimumTooHigh } : {}),
    }),
    request: (values) =>
      call(updateZoneSettingsRoute, {
        params,
        body: bodyOf(values),
        headers: { 'if-match': base.etag },
      }).catch((error: unknown) => {
        // After a refusal of an earlier version, the note about the newer one appears.
        void invalidateZones()
        throw error
      }),
    onSuccess: async (answer) => {
      const saved = readOf(answer)
      queryClient.setQueryData(keyOf(params), saved)
      form.restart(valuesOf(saved.settings))
      notifySuccess(words.saved)
      await invalidateZones()
    },
  })
  const newer = useNewerVersion({
    isNewer: base.etag !== read.etag,
    isEdited: form.fields.isDirty(),
    load: () => {
      setBase(read)
      form.restart(valuesOf(read.settings))
    },
  })
  return { form, newer }
}

function SettingsForm({ params, read, keys }: FormProps) {
  const readOnly = !useGrant('dns.manage')
  const { form, newer } = useSettingsForm({ params, read, keys })
  const field = (name: keyof Values & string) => <Field form={form} name={name} readOnly={readOnly} />
  return (
    <>
      <UnsavedGuard isUnsaved={form.isUnsaved} />
      {newer}
      <FormLayout form={form} action={words.save} disabled={!form.fields.isDirty()} readOnly={readOnly}>
        <FormSection title={texts.ttls} help={readOnly ? onlyWith('dns.manage') : texts.ttlsHelp}>
          {field('default_ttl')}
          {field('minimum_ttl')}
          {field('negative_ttl')}
        </FormSection>
        <FormSection title={texts.soa} help={texts.soaHelp}>
          {field('nameservers')}
          {field('apex_ns_editable')}
          {field('rname')}
          {field('refresh')}
          {field('retry')}
          {field('expire')}
        </FormSection>
        <FormSection title={texts.transfers} help={texts.transfersHelp}>
          {field('also_notify')}
          {field('allow_transfer')}
          {field('tsig_key_ids')}
        </FormSection>
        <FormSection title={texts.safety}>
          {field('protect_delete')}
          {field('auto_ptr')}
          {field('multi_signer')}
          {field('history_days')}
        </FormSection>
      </FormLayout>
    </>
  )
}
