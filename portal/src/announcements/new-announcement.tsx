// Adds prefixes: the server checks the form in a dry run before it is submitted. The checked form is kept
// in the address, so that the page that verifies an ASN can lead back to it.
import { Alert, Button, Collapse, Group, NumberInput, Stack, Text } from '@mantine/core'
import { ProblemError, type CallInput } from '@pharos/contract/client'
import {
  createAnnouncementsRoute,
  listAnnouncementsRoute,
  listRegionsRoute,
  updateAnnouncementRoute,
  type Announcement,
} from '@pharos/contract/byoip/announcement'
import { listAsnsRoute } from '@pharos/contract/inventory/asn'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { call, resultOf } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { multiSelect } from '../ui/form-widgets.tsx'
import { Field, FormProblem, useRequestForm, type Fields, type RequestForm } from '../ui/form.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { SubmitButton } from '../ui/submit-button.tsx'
import { UnsavedGuard } from '../ui/unsaved-guard.tsx'
import { usePageSearch } from '../ui/use-page-search.ts'
import classes from './announcements.module.css'
import { detailFields } from './detail-fields.ts'
import { detailNames, givenDetails } from './details.ts'
import { asnOf, bodyOf, draftOf, searchOf, type Draft } from './draft.ts'
import { Preflight } from './preflight.tsx'
import { PrefixField } from './prefix-field.tsx'
import { words } from './words.ts'

const { add: texts } = words

const isAsnUnverified = (error: unknown): boolean =>
  error instanceof ProblemError &&
  error.problem.errors?.some(({ type }) => type === 'asn_not_verified') === true

/** The compiler requires a body to have all of several alternative forms. */
const inputOf = (draft: Draft) => ({ body: bodyOf(draft) }) as CallInput<typeof createAnnouncementsRoute>

/** Returns the announcements of a dry run, with their checks. */
async function runChecks(draft: Draft): Promise<readonly Announcement[]> {
  const { body } = await call(createAnnouncementsRoute, {
    ...inputOf(draft),
    query: { dry_run: true, include: 'validations' } as object,
  })
  return resultOf<{ results: Announcement[] }>(body).results
}

type DraftForm = RequestForm<Draft, readonly Announcement[]>

function useDeclared() {
  const regions = useAnswer(listRegionsRoute, { query: { limit: 1000 } }).data
  return useMemo(
    () => ({
      regions: multiSelect({
        label: texts.regions,
        help: texts.regionsHelp,
        data: regions?.results.map(({ slug, name }) => ({ value: slug, label: name })) ?? [],
      }),
      ...detailFields,
    }),
    [regions],
  )
}

export function NewAnnouncement() {
  const navigate = useNavigate()
  const { search, setSearch } = usePageSearch('/announcements/new')
  const isLeaving = useRef(false)
  const create = useMutation({
    mutationFn: (draft: Draft) => call(createAnnouncementsRoute, inputOf(draft)),
    onSuccess: async ({ body }) => {
      isLeaving.current = true
      await invalidate(listAnnouncementsRoute)
      const [first, second] = body.results
      if (first && !second) return navigate({ to: '/announcements/$id', params: { id: String(first.id) } })
      notifySuccess(texts.added(body.results.length))
      return navigate({ to: '/announcements' })
    },
  })
  const form: DraftForm = useRequestForm<Draft, readonly Announcement[]>({
    initialValues: draftOf(search),
    // PATCH has the optional fields with the same rules; the body of the creation is a union of two forms.
    route: updateAnnouncementRoute,
    declared: useDeclared(),
    request: (draft) => {
      setSearch(searchOf(draft))
      return runChecks(draft)
    },
    // The results belong to the previous values of the form.
    onValuesChange: () => {
      form.clearResult()
      create.reset()
    },
  })
  const { fields, result: checked } = form
  const isUnverified = isAsnUnverified(form.error)
  return (
    <Page title={texts.title} note={texts.note}>
      {/* The dry run does not save. */}
      <UnsavedGuard isUnsaved={() => fields.isDirty() && !isLeaving.current && !isUnverified} />
      <div className={classes['halves']}>
        <Section title={texts.form}>
          <form onSubmit={form.submit} noValidate>
            <Stack>
              <PrefixField fields={fields} error={form.error} />
              <OriginField fields={fields} isUnverified={isUnverified} />
              <Field form={form} name="regions" />
              <Field form={form} name="description" />
              <AdvancedFields form={form} />
              {isUnverified && <VerifyFirst draft={fields.values} />}
              <FormProblem form={form} />
              <Group justify="flex-end">
                <ButtonLink variant="subtle" to="/announcements">
                  {texts.cancel}
                </ButtonLink>
                <SubmitButton form={form} variant={checked ? 'default' : 'filled'}>
                  {texts.check}
                </SubmitButton>
                {checked && (
                  <Button loading={create.isPending} onClick={() => create.mutate(fields.values)}>
                    {checked.length === 1 ? texts.add : texts.addAll(checked.length)}
                  </Button>
                )}
              </Group>
              {create.error && <Problem error={create.error} />}
            </Stack>
          </form>
        </Section>
        {checked ? <Preflight announcements={checked} /> : <Ahead />}
      </div>
    </Page>
  )
}

/** Requirements for announcing the prefix. */
const Ahead = () => (
  <Section title={texts.aheadTitle}>
    <Text size="sm">{texts.ahead}</Text>
    <ul className={classes['ahead']}>
      {texts.aheadSteps.map(({ name, who, text: line }) => (
        <li key={name}>
          <Text size="sm" fw={500} span>
            {name}
          </Text>{' '}
          <Text size="sm" c="dimmed" span>
            · {who}
          </Text>
          <Text size="sm" c="dimmed">
            {line}
          </Text>
        </li>
      ))}
    </ul>
  </Section>
)

type OriginProps = { readonly fields: Fields<Draft>; readonly isUnverified: boolean }

/** ASNs offered with a click. */
const offeredAsns = 6

function OriginField({ fields, isUnverified }: OriginProps) {
  const asns = useAnswer(listAsnsRoute, { query: { verified: true, limit: offeredAsns } })
  const input = fields.getInputProps('origin_asn')
  return (
    <Stack gap={6}>
      <NumberInput
        label={texts.origin}
        description={texts.originHelp}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        prefix="AS"
        hideControls
        allowDecimal={false}
        allowNegative={false}
        required
        withAsterisk={false}
        {...input}
        error={isUnverified ? texts.originUnverified(asnOf(fields.values)) : input.error}
      />
      <Group gap={4}>
        {asns.data?.results.map(({ asn }) => (
          <Button
            key={asn}
            variant="default"
            size="compact-xs"
            onClick={() => fields.setFieldValue('origin_asn', asn)}
          >
            AS{asn}
          </Button>
        ))}
        <ButtonLink to="/asns" variant="subtle" size="compact-xs">
          {texts.manage}
        </ButtonLink>
      </Group>
    </Stack>
  )
}

const advancedNames = detailNames.filter((name) => name !== 'description')

/** Rarely needed fields. */
function AdvancedFields({ form }: { form: DraftForm }) {
  const given = givenDetails(form.fields.values)
  const [isOpen, setIsOpen] = useState(advancedNames.some((name) => name in given))
  return (
    <>
      <Group>
        <Button variant="subtle" size="compact-xs" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? texts.fewer : texts.advanced}
        </Button>
      </Group>
      <Collapse expanded={isOpen}>
        <Stack>
          {advancedNames.map((name) => (
            <Field key={name} form={form} name={name} />
          ))}
        </Stack>
      </Collapse>
    </>
  )
}

/** Only an unverified ASN prevents adding a prefix. */
function VerifyFirst({ draft }: { draft: Draft }) {
  const asn = asnOf(draft)
  return (
    <Alert color="warn" title={texts.verifyTitle(asn)}>
      <Stack gap="xs">
        <Text size="sm">{texts.verifyText}</Text>
        <Group>
          <ButtonLink to="/asns/$asn" params={{ asn: String(asn) }} search={{ cidr: draft.cidr.trim() }}>
            {texts.verify(asn)}
          </ButtonLink>
        </Group>
      </Stack>
    </Alert>
  )
}
