// The proof that an ASN is the team's: how far it is, each method with what to create where, and looking again now.
import { Alert, Anchor, Button, Card, Group, Skeleton, Stack, Text } from '@mantine/core'
import {
  listAsnsRoute,
  verifyAsnRoute,
  type AsnProof,
  type AsnVerification,
  type ProofStep,
} from '@pharos/contract/inventory'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { answerOf, forget, queryClient, useAnswer } from '../api/queries.ts'
import { CopyBlock, CopyIcon } from '../ui/copy.tsx'
import { Page } from '../ui/page.tsx'
import { Problem, tell } from '../ui/problem.tsx'
import { daysUntil, Time } from '../ui/time.tsx'
import { useWait } from '../ui/use-wait.ts'
import { HoldBadge, methodNames, methodReasons, ProofBadge, provenBy, warnDays } from './words.tsx'

export function AsnPage() {
  const { asn } = useParams({ strict: false }) as { asn: string }
  const input = { params: { asn: Number(asn.replace(/^AS/i, '')) } }
  const answer = useAnswer(verifyAsnRoute, input, { refetchInterval: 15_000 })
  const look = useMutation({
    mutationFn: () => call(verifyAsnRoute, { ...input, query: { refresh: true } }),
    onSuccess: ({ body }) => {
      queryClient.setQueryData(answerOf(verifyAsnRoute, input).queryKey, body)
      tell(body.verified === null ? 'Nothing that proves it was found.' : `AS${body.asn} is proven.`)
      return forget(listAsnsRoute)
    },
  })
  const wait = useWait(look.error)
  if (answer.error && !answer.data)
    return (
      <Page title={`AS${asn}`}>
        <Problem error={answer.error} />
        <Anchor component={Link} to="/asns" size="sm">
          All ASNs
        </Anchor>
      </Page>
    )
  if (!answer.data)
    return (
      <Page title={`AS${asn}`}>
        <Skeleton height={240} />
      </Page>
    )
  const proof = answer.data
  return (
    <Page
      title={`AS${proof.asn}`}
      note={
        <Group gap="xs">
          {proof.holder && (
            <span>
              {proof.holder}
              {proof.rir && `, ${proof.rir.toUpperCase()}`}
            </span>
          )}
          <HoldBadge {...proof} />
          <CopyIcon text={`AS${proof.asn}`} label="Copy the ASN" />
        </Group>
      }
      actions={
        <Button
          variant="default"
          leftSection={<IconRefresh size={14} />}
          loading={look.isPending}
          disabled={wait > 0}
          onClick={() => look.mutate()}
        >
          {wait > 0 ? `Check again in ${wait} s` : 'Check now'}
        </Button>
      }
    >
      <Standing proof={proof} />
      {look.error && wait === 0 && <Problem error={look.error} />}
      {wait > 0 && (
        <Alert color="blue" role="status">
          An ASN is checked at most once a minute when somebody asks, and every day by itself.
        </Alert>
      )}
      <Stack gap="sm">
        {proof.methods.filter(isOffered).map((method) => (
          <Method key={method.method} proof={method} />
        ))}
      </Stack>
      <NotOffered methods={proof.methods} />
    </Page>
  )
}

const isOffered = ({ state, checked }: AsnProof): boolean => state !== 'unavailable' || checked !== null

/** Where it stands as a whole, and what one can go on to. */
function Standing({
  proof: { asn, verified, verified_by: by, expires, revoked, conflict },
}: {
  proof: AsnVerification
}) {
  const { cidr } = useSearch({ strict: false }) as { cidr?: string }
  if (revoked !== null)
    return (
      <Alert color="red" title="Revoked by the provider">
        <Text size="sm" component="div">
          <Time at={revoked.at} />: {revoked.reason} Proofs do not count until the provider verifies the ASN
          again. Contact the provider.
        </Text>
      </Alert>
    )
  if (verified === null || by === null)
    return (
      <Alert
        color={conflict ? 'red' : 'yellow'}
        title={conflict ? 'Another team holds it' : 'Not proven to be yours'}
      >
        <Text size="sm">
          {conflict
            ? 'Proofs are still looked for, but they do not count by themselves: the provider decides. Write to them.'
            : 'Add the token to the aut-num object, then check. The proof is valid for 180 days and is renewed as long as the token is there. DNS records and ROAs show control of a prefix only: the provider can verify the ASN with them as evidence.'}
        </Text>
      </Alert>
    )
  const days = expires === null ? undefined : daysUntil(expires)
  return (
    <Alert
      color={days !== undefined && days <= warnDays ? 'yellow' : 'teal'}
      title={`It is yours, ${provenBy(by)}`}
    >
      <Stack gap="xs">
        <Text size="sm" component="div">
          Since <Time at={verified} />
          {expires === null ? (
            '; it does not end, and needs none of the following.'
          ) : (
            <>
              , until <Time at={expires} /> ({days} {days === 1 ? 'day' : 'days'}). As long as the proof
              stands there, that is put off every day.
            </>
          )}
        </Text>
        <Group gap="xs">
          <Button
            component={Link}
            to="/announcements/new"
            search={{ asn, ...(cidr === undefined ? {} : { cidr }) } as never}
          >
            {cidr === undefined ? `Bring a prefix with AS${asn}` : `Go on with ${cidr}`}
          </Button>
          <Button
            variant="default"
            component={Link}
            to="/announcements"
            search={{ origin_asn: asn } as never}
          >
            Its announcements
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}

function Method({ proof }: { proof: AsnProof }) {
  const { method, proves, state, note, steps, token, evidence, checked } = proof
  const hasLines = steps.some(({ lines }) => lines.length > 0)
  return (
    <Card component="section" aria-label={methodNames[method]}>
      <Group justify="space-between">
        <Group gap="xs">
          <Text fw={600} size="sm">
            {methodNames[method]}
          </Text>
          <ProofBadge state={state} proves={proves} />
        </Group>
        <Text size="xs" c="dimmed">
          {checked === null ? (
            'never checked'
          ) : (
            <>
              checked <Time at={checked} />
            </>
          )}
        </Text>
      </Group>
      {state !== 'pending' && (
        <Text size="sm" mt={4}>
          {note}
        </Text>
      )}
      <Text size="xs" c="dimmed" mt={4}>
        {methodReasons[method]}
      </Text>
      {state !== 'valid' && (
        <Stack gap="xs" mt="xs">
          {steps.map((step) => (
            <StepToDo key={step.text} step={step} />
          ))}
          {!hasLines && token !== null && <CopyBlock text={token} label="Copy the token" />}
        </Stack>
      )}
      <Evidence evidence={evidence} />
    </Card>
  )
}

/** So many are shown before one asks for the others: any of them is enough. */
const shownLines = 3

function StepToDo({ step: { text, lines, needs } }: { step: ProofStep }) {
  const [isLong, setIsLong] = useState(false)
  const blocks = needs === 'one' ? lines : lines.length === 0 ? [] : [lines.join('\n')]
  return (
    <Stack gap={4}>
      <Text size="sm">{text}</Text>
      {blocks.slice(0, isLong ? blocks.length : shownLines).map((block) => (
        <CopyBlock key={block} text={block} label="Copy what to create" />
      ))}
      {!isLong && blocks.length > shownLines && (
        <Group>
          <Button variant="subtle" size="compact-xs" onClick={() => setIsLong(true)}>
            Or one of {blocks.length - shownLines} more
          </Button>
        </Group>
      )}
    </Stack>
  )
}

/** What was read, for whoever wants to know why. */
function Evidence({ evidence }: { evidence: AsnProof['evidence'] }) {
  const read = Object.entries(evidence).filter(([, value]) => value !== null)
  if (read.length === 0) return null
  return (
    <Text size="xs" c="dimmed" mt="xs">
      What was read: {read.map(([name, value]) => `${name.replaceAll('_', ' ')} ${textOf(value)}`).join('; ')}
    </Text>
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function NotOffered({ methods }: { methods: readonly AsnProof[] }) {
  const others = methods.filter((one) => !isOffered(one))
  if (others.length === 0) return null
  return (
    <Card component="section" aria-label="Not available here">
      <Text fw={600} size="sm" mb={4}>
        Not available here
      </Text>
      {others.map(({ method, note }) => (
        <Text key={method} size="sm" c="dimmed">
          {methodNames[method]}: {note}
        </Text>
      ))}
    </Card>
  )
}
