// Names the provider: name, ASN, contact and logo. What a platform file names is read-only.
import { Alert, Button, Group } from '@mantine/core'
import { listPlatformElementsRoute, type PlatformElement } from '@pharos/contract/operator/platform'
import { useMemo } from 'react'
import { useAnswer } from '../api/queries.ts'
import { applyForm } from '../platform/plan-request.ts'
import { isEmail, text } from '../ui/form-text-widgets.tsx'
import { number } from '../ui/form-widgets.tsx'
import { Field, FormLayout, FormSection, useRequestForm } from '../ui/form.tsx'
import { svgFile } from '../ui/svg-field.tsx'
import { providerChanges } from './setup-changes.ts'
import { Answered, Moves, type StepProps } from './step-parts.tsx'
import { words } from './words.ts'

const { provider: t } = words

const declaredWith = (hasLogo: boolean) => ({
  name: text({ label: t.name, required: true }),
  asn: number({ label: t.asn, help: t.asnHelp }),
  support: text({
    label: t.support,
    help: t.supportHelp,
    placeholder: 'noc@example.net',
    check: (value: string) =>
      isEmail(value) === undefined || /^https:\/\/\S+$/.test(value.trim()) ? undefined : t.supportWrong,
  }),
  logo: svgFile({
    label: t.logo,
    help: hasLogo ? t.logoStored : t.logoHelp,
    placeholder: t.choose,
    wrong: t.logoWrong,
  }),
})

export function ProviderStep(moves: StepProps) {
  const answer = useAnswer(listPlatformElementsRoute, { params: { section: 'provider' } })
  return (
    <Answered answer={answer}>
      {({ results: [provider] }) =>
        provider && provider.managed_by !== 'portal' ? (
          <>
            <Alert color="info">{words.fileManages(provider.file)}</Alert>
            <Group>
              <Button onClick={moves.onNext}>{words.next}</Button>
            </Group>
          </>
        ) : (
          <ProviderForm provider={provider} {...moves} />
        )
      }
    </Answered>
  )
}

function ProviderForm({ provider, ...moves }: StepProps & { provider: PlatformElement | undefined }) {
  const values = provider?.values ?? {}
  const hasLogo = provider?.secrets.includes('logo') ?? false
  // A widget keeps its state only while its declaration stays the same.
  const declared = useMemo(() => declaredWith(hasLogo), [hasLogo])
  const form = useRequestForm({
    initialValues: {
      name: String(values['name'] ?? ''),
      asn: typeof values['asn'] === 'number' ? values['asn'] : ('' as const),
      support: String(values['support'] ?? '').replace(/^mailto:/, ''),
      logo: '',
    },
    declared,
    request: (fields) => applyForm(providerChanges(fields, provider?.values)),
    // The name and the logo are in the page itself.
    onSuccess: () => location.assign(`${location.pathname}?step=region`),
  })
  return (
    <FormLayout form={form} action={words.save} cancel={<Moves {...moves} />}>
      <FormSection title={t.title} help={t.help}>
        <Field form={form} name="name" autoFocus />
        <Field form={form} name="asn" />
        <Field form={form} name="support" />
        <Field form={form} name="logo" />
      </FormSection>
    </FormLayout>
  )
}
