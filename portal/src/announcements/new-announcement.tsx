// Bringing a prefix: what is typed is checked by the server's own preflight before anything is stored. Once checked, it
// stands in the address, so that the way to the proof of an ASN leads back.
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
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { call } from '../api/call.ts'
import { forget, useAnswer } from '../api/queries.ts'
import { Page } from '../ui/page.tsx'
import { fieldError, Problem, tell } from '../ui/problem.tsx'
import type { Search } from '../router.tsx'
import { asnOf, bodyOf, draftOf, searchOf, type Draft } from './new-draft.ts'
import { Preflight } from './preflight.tsx'
import { PrefixField } from './prefix-field.tsx'

/** What the server found wrong of that type, with what it says beside it. */
function mistakeOf(error: unknown, type: string) {
  if (!(error instanceof ProblemError)) return undefined
  return error.problem.errors?.find((one) => one.type === type)
}

/** Whether the server found anything wrong but an ASN without a proof. */
const isMore = (error: unknown): boolean =>
  !(error instanceof ProblemError) || !error.problem.errors?.every(({ type }) => type === 'asn_not_verified')

/** The compiler takes a body of one of several forms for one that has to be of all. */
const inputOf = (draft: Draft) => ({ body: bodyOf(draft) }) as CallInput<typeof createAnnouncementsRoute>

export function NewAnnouncement() {
  const navigate = useNavigate()
  const search = useSearch({ strict: false }) as Search
  const [draft, setDraft] = useState<Draft>(() => draftOf(search))
  const set = (change: Partial<Draft>) => {
    setDraft({ ...draft, ...change })
    preflight.reset()
    create.reset()
  }
  const preflight = useMutation({
    mutationFn: () =>
      call(createAnnouncementsRoute, {
        ...inputOf(draft),
        query: { dry_run: true, include: 'validations' } as object,
      }),
  })
  const create = useMutation({
    mutationFn: () => call(createAnnouncementsRoute, inputOf(draft)),
    onSuccess: async ({ body }) => {
      await forget(listAnnouncementsRoute)
      if (body.results.length === 1)
        return navigate({ to: '/announcements/$id', params: { id: String(body.results[0]!.id) } as never })
      tell(`${body.results.length} prefixes were brought.`)
      return navigate({ to: '/announcements' })
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    void navigate({ to: '.', search: searchOf(draft) as never, replace: true })
    preflight.mutate()
  }
  const seen = (preflight.data?.body as unknown as { result?: { results: Announcement[] } } | undefined)
    ?.result?.results
  const isUnproven = mistakeOf(preflight.error, 'asn_not_verified') !== undefined
  return (
    <Page
      title="Bring a prefix"
      note="It begins switched off, and is checked at once. Nothing is announced before every check has passed and you switch it on."
    >
      <Card maw={640}>
        <form onSubmit={submit}>
          <Stack>
            <PrefixField draft={draft} set={set} error={preflight.error} />
            <OriginField draft={draft} set={set} error={preflight.error} />
            <RegionsField draft={draft} set={set} />
            <TextInput
              label="Description"
              maxLength={500}
              value={draft.description}
              onChange={(event) => set({ description: event.currentTarget.value })}
            />
            <More draft={draft} set={set} error={preflight.error} />
            {isUnproven && <ProveFirst draft={draft} />}
            {preflight.error && isMore(preflight.error) && <Problem error={preflight.error} />}
            <Group>
              <Button type="submit" variant={seen ? 'default' : 'filled'} loading={preflight.isPending}>
                Check first
              </Button>
              {seen && (
                <Button loading={create.isPending} onClick={() => create.mutate()}>
                  {seen.length === 1 ? 'Bring it' : `Bring all ${seen.length}`}
                </Button>
              )}
            </Group>
          </Stack>
        </form>
      </Card>
      {create.error && <Problem error={create.error} />}
      {seen && <Preflight announcements={seen} />}
    </Page>
  )
}

type FieldProps = { draft: Draft; set: (change: Partial<Draft>) => void; error?: unknown }

/** ASNs offered with a click. */
const offeredAsns = 6

function OriginField({ draft, set, error }: FieldProps) {
  const asns = useAnswer(listAsnsRoute, { query: { verified: true, limit: offeredAsns } })
  const isUnproven = mistakeOf(error, 'asn_not_verified') !== undefined
  return (
    <>
      <NumberInput
        label="Origin AS"
        description="the number of the ASN that announces it, which is proven to be yours"
        prefix="AS"
        hideControls
        allowDecimal={false}
        allowNegative={false}
        required
        value={draft.asn}
        error={isUnproven ? `AS${asnOf(draft)} is not proven to be yours` : fieldError(error, 'origin_asn')}
        onChange={(asn) => set({ asn })}
      />
      <Group gap={4}>
        {asns.data?.results.map(({ asn }) => (
          <Button key={asn} variant="default" size="compact-xs" onClick={() => set({ asn })}>
            AS{asn}
          </Button>
        ))}
        <Button component={Link} to="/asns" variant="subtle" size="compact-xs">
          Your ASNs
        </Button>
      </Group>
    </>
  )
}

function RegionsField({ draft, set }: FieldProps) {
  const regions = useAnswer(listRegionsRoute, { query: { limit: 1000 } })
  return (
    <MultiSelect
      label="Regions"
      description="where it is announced when switched on; none means all that are open"
      data={regions.data?.results.map(({ slug, name }) => ({ value: slug, label: name })) ?? []}
      value={draft.regions}
      onChange={(chosen) => set({ regions: chosen })}
    />
  )
}

/** What few need. */
function More({ draft, set, error }: FieldProps) {
  const [isOpen, setIsOpen] = useState(draft.asSet !== '' || draft.signatory !== '' || draft.delegate)
  return (
    <>
      <Group>
        <Button variant="subtle" size="compact-xs" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? 'Less' : 'AS-SET, signatory of the letter'}
        </Button>
      </Group>
      <Collapse expanded={isOpen}>
        <Stack>
          <TextInput
            label="AS-SET"
            description="whose members may originate the prefix in the IRR, such as AS-EXAMPLE"
            value={draft.asSet}
            error={fieldError(error, 'as_set')}
            onChange={(event) => set({ asSet: event.currentTarget.value })}
          />
          <TextInput
            label="Who signs the letter of authorization"
            description="stands in the draft"
            maxLength={200}
            value={draft.signatory}
            onChange={(event) => set({ signatory: event.currentTarget.value })}
          />
          <Checkbox
            label="The provider drafts the letter for us"
            checked={draft.delegate}
            onChange={(event) => set({ delegate: event.currentTarget.checked })}
          />
        </Stack>
      </Collapse>
    </>
  )
}

/** The one thing that keeps a prefix from being brought at all, and where it is mended. */
function ProveFirst({ draft }: { draft: Draft }) {
  const asn = asnOf(draft)
  return (
    <Alert color="orange" title={`AS${asn} is not proven to be yours, or no longer`}>
      <Stack gap="xs">
        <Text size="sm">
          Prove it first: you are told what to add where. The page there leads back to this prefix.
        </Text>
        <Group>
          <Button
            component={Link}
            to="/asns/$asn"
            params={{ asn: String(asn) } as never}
            search={{ cidr: draft.cidr.trim() } as never}
          >
            Prove AS{asn}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
