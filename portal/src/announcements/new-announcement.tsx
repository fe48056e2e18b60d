// Bringing a prefix: what is typed is checked by the server's own preflight before anything is stored.
import { Button, Card, Group, MultiSelect, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import {
  createAnnouncements,
  listAnnouncements,
  listRegions,
  type Announcement,
  type NewAnnouncement,
} from '@pharos/contract/byoip'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { call } from '../api/call.ts'
import { forget, useAnswer } from '../api/queries.ts'
import { Page } from '../ui/page.tsx'
import { fieldError, Problem } from '../ui/problem.tsx'
import { Validations } from './validations.tsx'

type Draft = { cidr: string; asn: string | number; description: string; regions: string[] }

const bodyOf = ({ cidr, asn, description, regions }: Draft): NewAnnouncement => ({
  cidr: cidr.trim(),
  origin_asn: Number(String(asn).replace(/^AS/i, '')),
  ...(description ? { description } : {}),
  ...(regions.length > 0 ? { regions } : {}),
})

/** Host bits: the server says what was meant. */
function canonicalOf(error: unknown): string | undefined {
  if (!(error instanceof ProblemError)) return undefined
  const canonical = error.problem.errors?.find(({ ctx }) => ctx?.['canonical'] !== undefined)?.ctx?.[
    'canonical'
  ]
  return typeof canonical === 'string' ? canonical : undefined
}

export function NewAnnouncement() {
  const navigate = useNavigate()
  const regions = useAnswer(listRegions, { query: { limit: 1000 } })
  const [draft, setDraft] = useState<Draft>({ cidr: '', asn: '', description: '', regions: [] })
  const set = (change: Partial<Draft>) => {
    setDraft({ ...draft, ...change })
    preflight.reset()
  }
  const preflight = useMutation({
    mutationFn: () =>
      call(createAnnouncements, {
        body: bodyOf(draft),
        query: { dry_run: true, include: 'validations' } as object,
      }),
  })
  const create = useMutation({
    mutationFn: () => call(createAnnouncements, { body: bodyOf(draft) }),
    onSuccess: async ({ body }) => {
      await forget(listAnnouncements)
      await navigate({ to: '/announcements/$id', params: { id: String(body.results[0]!.id) } as never })
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    preflight.mutate()
  }
  const seen = (preflight.data?.body as unknown as { result?: { results: Announcement[] } } | undefined)
    ?.result?.results[0]
  const canonical = canonicalOf(preflight.error)
  return (
    <Page
      title="Bring a prefix"
      note="It begins switched off, and is checked at once. Nothing is announced before every check has passed and you switch it on."
    >
      <Card maw={640}>
        <form onSubmit={submit}>
          <Stack>
            <TextInput
              label="Prefix"
              description="such as 203.0.113.0/24 or 2001:db8::/32"
              required
              data-search
              value={draft.cidr}
              error={fieldError(preflight.error, 'cidr')}
              onChange={(event) => set({ cidr: event.currentTarget.value })}
            />
            {canonical && (
              <Group>
                <Text size="sm">Did you mean</Text>
                <Button variant="light" onClick={() => set({ cidr: canonical })}>
                  {canonical}
                </Button>
              </Group>
            )}
            <NumberInput
              label="Origin AS"
              description="the number, such as 64496"
              prefix="AS"
              hideControls
              allowDecimal={false}
              allowNegative={false}
              required
              value={draft.asn}
              error={fieldError(preflight.error, 'origin_asn')}
              onChange={(asn) => set({ asn })}
            />
            <MultiSelect
              label="Regions"
              description="where it is announced when switched on; none means all that are open"
              data={regions.data?.results.map(({ slug, name }) => ({ value: slug, label: name })) ?? []}
              value={draft.regions}
              onChange={(regions) => set({ regions })}
            />
            <TextInput
              label="Description"
              maxLength={500}
              value={draft.description}
              onChange={(event) => set({ description: event.currentTarget.value })}
            />
            {preflight.error && <Problem error={preflight.error} />}
            <Group>
              <Button type="submit" variant={seen ? 'default' : 'filled'} loading={preflight.isPending}>
                Check first
              </Button>
              {seen && (
                <Button loading={create.isPending} onClick={() => create.mutate()}>
                  Bring it
                </Button>
              )}
            </Group>
          </Stack>
        </form>
      </Card>
      {create.error && <Problem error={create.error} />}
      {seen && (
        <Stack>
          <Text size="sm">
            This is what the checks say now. What is missing can be created after it was brought; each check
            is repeated by itself.
          </Text>
          <Validations announcement={seen} />
        </Stack>
      )}
    </Page>
  )
}
