// Adds prefixes: the server checks the form in a dry run before anything is stored. The checked form is kept in the
// address, so that the page that verifies an ASN can lead back to it.
import {
  Alert,
  Button,
  Card,
  Checkbox,
  Collapse,
  Group,
  MultiSelect,
  NumberInput,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { ProblemError, type CallInput } from '@pharos/contract/client'
import {
  createAnnouncementsRoute,
  listAnnouncementsRoute,
  listRegionsRoute,
  type Announcement,
} from '@pharos/contract/byoip'
import { listAsnsRoute } from '@pharos/contract/inventory'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { useRequestForm, type Fields } from '../ui/form.tsx'
import { ButtonLink } from '../ui/link.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { SubmitButton } from '../ui/submit-button.tsx'
import { usePageSearch } from '../ui/use-page-search.ts'
import { asnOf, bodyOf, draftOf, searchOf, type Draft } from './draft.ts'
import { Preflight } from './preflight.tsx'
import { PrefixField } from './prefix-field.tsx'

const isAsnUnverified = (error: unknown): boolean =>
  error instanceof ProblemError &&
  error.problem.errors?.some(({ type }) => type === 'asn_not_verified') === true

/** The compiler requires a body to have all of several alternative forms. */
const inputOf = (draft: Draft) => ({ body: bodyOf(draft) }) as CallInput<typeof createAnnouncementsRoute>

/** Returns what the announcements would be, with their checks. */
async function runChecks(draft: Draft): Promise<readonly Announcement[]> {
  const { body } = await call(createAnnouncementsRoute, {
    ...inputOf(draft),
    query: { dry_run: true, include: 'validations' } as object,
  })
  return (body as unknown as { result: { results: Announcement[] } }).result.results
}

export function NewAnnouncement() {
  const navigate = useNavigate()
  const { search, setSearch } = usePageSearch('/announcements/new')
  const create = useMutation({
    mutationFn: (draft: Draft) => call(createAnnouncementsRoute, inputOf(draft)),
    onSuccess: async ({ body }) => {
      await invalidate(listAnnouncementsRoute)
      const [first, second] = body.results
      if (first && !second) return navigate({ to: '/announcements/$id', params: { id: String(first.id) } })
      notifySuccess(`${body.results.length} prefixes added.`)
      return navigate({ to: '/announcements' })
    },
  })
  const form = useRequestForm({
    initialValues: draftOf(search),
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
    <Page
      title="Add prefix"
      note="New prefixes start disabled. Nothing is announced until all checks pass and you enable it."
    >
      <Card maw={640}>
        <form onSubmit={form.submit}>
          <Stack>
            <PrefixField fields={fields} error={form.error} />
            <OriginField fields={fields} isUnverified={isUnverified} />
            <RegionsField fields={fields} />
            <TextInput label="Description" maxLength={500} {...fields.getInputProps('description')} />
            <AdvancedFields fields={fields} />
            {isUnverified && <VerifyFirst draft={fields.values} />}
            {form.problem !== undefined && <Problem error={form.problem} />}
            <Group>
              <SubmitButton form={form} variant={checked ? 'default' : 'filled'}>
                Run checks
              </SubmitButton>
              {checked && (
                <Button loading={create.isPending} onClick={() => create.mutate(fields.values)}>
                  {checked.length === 1 ? 'Add prefix' : `Add all ${checked.length} prefixes`}
                </Button>
              )}
            </Group>
          </Stack>
        </form>
      </Card>
      {create.error && <Problem error={create.error} />}
      {checked && <Preflight announcements={checked} />}
    </Page>
  )
}

type FieldProps = { readonly fields: Fields<Draft> }

/** ASNs offered with a click. */
const offeredAsns = 6

function OriginField({ fields, isUnverified }: FieldProps & { readonly isUnverified: boolean }) {
  const asns = useAnswer(listAsnsRoute, { query: { verified: true, limit: offeredAsns } })
  const input = fields.getInputProps('origin_asn')
  return (
    <>
      <NumberInput
        label="Origin AS"
        description="The AS that originates the prefix. It must be verified."
        prefix="AS"
        hideControls
        allowDecimal={false}
        allowNegative={false}
        required
        {...input}
        error={isUnverified ? `AS${asnOf(fields.values)} is not verified` : input.error}
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
          Manage ASNs
        </ButtonLink>
      </Group>
    </>
  )
}

function RegionsField({ fields }: FieldProps) {
  const regions = useAnswer(listRegionsRoute, { query: { limit: 1000 } })
  return (
    <MultiSelect
      label="Regions"
      description="Where to announce it. Leave empty for all regions."
      data={regions.data?.results.map(({ slug, name }) => ({ value: slug, label: name })) ?? []}
      {...fields.getInputProps('regions')}
    />
  )
}

/** Rarely needed fields. */
function AdvancedFields({ fields }: FieldProps) {
  const { as_set, loa_signatory, delegate_loa } = fields.values
  const [isOpen, setIsOpen] = useState(as_set !== '' || loa_signatory !== '' || delegate_loa)
  return (
    <>
      <Group>
        <Button variant="subtle" size="compact-xs" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? 'Fewer options' : 'Advanced options'}
        </Button>
      </Group>
      <Collapse expanded={isOpen}>
        <Stack>
          <TextInput
            label="AS-SET"
            description="AS-SET whose members may originate the prefix, such as AS-EXAMPLE"
            {...fields.getInputProps('as_set')}
          />
          <TextInput
            label="Letter signatory"
            description="Printed on the draft letter"
            maxLength={200}
            {...fields.getInputProps('loa_signatory')}
          />
          <Checkbox
            label="Let the provider draft the letter"
            {...fields.getInputProps('delegate_loa', { type: 'checkbox' })}
          />
        </Stack>
      </Collapse>
    </>
  )
}

/** Only an unverified ASN prevents adding a prefix. */
function VerifyFirst({ draft }: { draft: Draft }) {
  const asn = asnOf(draft)
  return (
    <Alert color="warn" title={`Verify AS${asn} first`}>
      <Stack gap="xs">
        <Text size="sm">We will show you what to publish, then lead you back here.</Text>
        <Group>
          <ButtonLink to="/asns/$asn" params={{ asn: String(asn) }} search={{ cidr: draft.cidr.trim() }}>
            Verify AS{asn}
          </ButtonLink>
        </Group>
      </Stack>
    </Alert>
  )
}
