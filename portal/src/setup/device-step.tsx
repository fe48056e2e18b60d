// Adds a device that is read by SNMP, with its credential. Whether it answers is shown as the collector finds it.
import { listStaffDevicesRoute, type StaffDevice } from '@pharos/contract/operator/device'
import { useState } from 'react'
import { invalidate, useAnswer } from '../api/queries.ts'
import { applyForm } from '../platform/plan-request.ts'
import { password, text } from '../ui/form-text-widgets.tsx'
import { select } from '../ui/form-widgets.tsx'
import { Field, FormLayout, FormSection, useRequestForm } from '../ui/form.tsx'
import { deviceChanges } from './setup-changes.ts'
import { ConnectStep, Moves, type Connected, type StepProps } from './step-parts.tsx'
import { words } from './words.ts'

const { device: t } = words

type Version = keyof typeof t.versions

const secretOptions = { autoComplete: 'new-password' } as const
const declaredFor = (version: Version) => ({
  name: text({ label: t.name, placeholder: 'r1.ams', required: true }),
  address: text({ label: t.address, placeholder: '192.0.2.10', required: true, mono: true }),
  version: select({
    label: t.version,
    required: true,
    data: Object.entries(t.versions).map(([value, label]) => ({ value, label })),
  }),
  community: password({ label: t.community, required: version === 'v2c', ...secretOptions }),
  user: text({ label: t.user, required: version === 'v3', autoComplete: 'off' }),
  auth_password: password({ label: t.authPassword, help: t.authHelp, ...secretOptions }),
  privacy_password: password({ label: t.privacyPassword, help: t.privacyHelp, ...secretOptions }),
})
const declarations = { v2c: declaredFor('v2c'), v3: declaredFor('v3') } as const

/** Devices that are connected on this page are few; a large network is imported. */
const shownMax = 50

export function DeviceStep(moves: StepProps) {
  const answer = useAnswer(listStaffDevicesRoute, { query: { limit: shownMax } }, { refetchInterval: 5_000 })
  return (
    <ConnectStep
      {...moves}
      answer={answer}
      elementsOf={({ results }) => results.map(connectedOf)}
      title={t.title}
      another={t.another}
      form={(onCreated) => <DeviceForm {...moves} onCreated={onCreated} />}
    />
  )
}

function connectedOf({ name, last_seen, error, error_text, interfaces }: StaffDevice): Connected {
  const about = { key: name, name }
  if (error !== null) return { ...about, color: 'bad', state: t.failed, text: error_text }
  return last_seen === null
    ? { ...about, color: 'info', state: t.waiting, text: '' }
    : { ...about, color: 'ok', state: t.read, text: t.interfaces(interfaces) }
}

type DeviceFormProps = StepProps & { readonly onCreated: () => void }

function DeviceForm({ onCreated, ...moves }: DeviceFormProps) {
  const [version, setVersion] = useState<Version>('v2c')
  const form = useRequestForm({
    initialValues: {
      name: '',
      address: '',
      version: 'v2c',
      community: '',
      user: '',
      auth_password: '',
      privacy_password: '',
    },
    declared: declarations[version],
    request: (fields) => applyForm(deviceChanges(fields)),
    async onSuccess() {
      await invalidate(listStaffDevicesRoute)
      onCreated()
    },
  })
  const chosen = form.fields.values.version as Version
  if (chosen !== version) setVersion(chosen)
  const ofVersion =
    version === 'v2c' ? (['community'] as const) : (['user', 'auth_password', 'privacy_password'] as const)
  return (
    <FormLayout form={form} action={t.create} cancel={<Moves {...moves} />}>
      <FormSection title={t.title} help={t.help}>
        <Field form={form} name="name" autoFocus />
        <Field form={form} name="address" />
        <Field form={form} name="version" />
        {ofVersion.map((one) => (
          <Field key={one} form={form} name={one} />
        ))}
      </FormSection>
    </FormLayout>
  )
}
