// The verification of an ASN: its state, each method with what to publish where, and checking again now.
import { Alert, Button, Card, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import {
  listAsnsRoute,
  verifyAsnRoute,
  type AsnProof,
  type AsnVerification,
  type ProofStep,
} from '@pharos/contract/inventory'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { answerOf, invalidate, queryClient, useAnswer } from '../api/queries.ts'
import { CopyBlock, CopyIcon } from '../ui/copy.tsx'
import { ButtonLink, TextLink } from '../ui/link.tsx'
import { Page } from '../ui/page.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { daysUntil, Time } from '../ui/time.tsx'
import { useRetryAfter } from '../ui/use-retry-after.ts'
import { textOf, usePageSearch } from '../ui/use-page-search.ts'
import { AsnBadge, methodNames, methodReasons, ProofBadge, verifiedBy, warnDays } from './proof-labels.tsx'

export function AsnPage() {
  const { asn } = useParams({ from: '/frame/asns/$asn' })
  const input = { params: { asn: Number(asn.replace(/^AS/i, '')) } }
  const answer = useAnswer(verifyAsnRoute, input, { refetchInterval: 15_000 })
  const check = useMutation({
    mutationFn: () => call(verifyAsnRoute, { ...input, query: { refresh: true } }),
    onSuccess: ({ body }) => {
      queryClient.setQueryData(answerOf(verifyAsnRoute, input).queryKey, body)
      notifySuccess(body.verified === null ? 'No proof found yet.' : `AS${body.asn} is verified.`)
      return invalidate(listAsnsRoute)
    },
  })
  const wait = useRetryAfter(check.error)
  if (answer.error && !answer.data)
    return (
      <Page title={`AS${asn}`}>
        <Problem error={answer.error} />
        <TextLink to="/asns" size="sm">
          All ASNs
        </TextLink>
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
          <AsnBadge {...proof} />
          <CopyIcon text={`AS${proof.asn}`} label="Copy ASN" />
        </Group>
      }
      actions={
        <Button
          variant="default"
          leftSection={<IconRefresh size={14} />}
          loading={check.isPending}
          disabled={wait > 0}
          onClick={() => check.mutate()}
        >
          {wait > 0 ? `Check again in ${wait} s` : 'Check now'}
        </Button>
      }
    >
      <Summary proof={proof} />
      {check.error && wait === 0 && <Problem error={check.error} />}
      {wait > 0 && (
        <Alert color="info" role="status">
          You can check once a minute. We also check daily.
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

/** The state of the verification as a whole, and the next step. */
function Summary({
  proof: { asn, verified, verified_by: by, expires, revoked, conflict },
}: {
  proof: AsnVerification
}) {
  const cidr = textOf(usePageSearch('/asns/$asn').search.cidr)
  if (revoked !== null)
    return (
      <Alert color="bad" title="Revoked by the provider">
        <Text size="sm" component="div">
          <Time at={revoked.at} />: {revoked.reason} Proofs do not count until the provider verifies the ASN
          again. Contact the provider.
        </Text>
      </Alert>
    )
  if (verified === null || by === null)
    return (
      <Alert color={conflict ? 'bad' : 'warn'} title={conflict ? 'Cannot be verified here' : 'Not verified'}>
        <Text size="sm">
          {conflict
            ? 'Your proof is valid, but only your provider can decide who announces with this ASN. Contact your provider.'
            : 'Add the token to the aut-num object, then check. The proof is valid for 180 days and is renewed as long as the token is there. DNS records and ROAs show control of a prefix only: the provider can verify the ASN with them as evidence.'}
        </Text>
      </Alert>
    )
  const days = expires === null ? undefined : daysUntil(expires)
  return (
    <Alert color={days !== undefined && days <= warnDays ? 'warn' : 'ok'} title={verifiedBy(by)}>
      <Stack gap="xs">
        <Text size="sm" component="div">
          Since <Time at={verified} />
          {expires === null ? (
            '. No expiry; no further proof needed.'
          ) : (
            <>
              . Valid until <Time at={expires} /> ({days} {days === 1 ? 'day' : 'days'}). Renewed daily while
              the proof stays published.
            </>
          )}
        </Text>
        <Group gap="xs">
          <ButtonLink to="/announcements/new" search={{ asn, ...(cidr === '' ? {} : { cidr }) }}>
            {cidr === '' ? `Add a prefix with AS${asn}` : `Continue with ${cidr}`}
          </ButtonLink>
          <ButtonLink variant="default" to="/announcements" search={{ origin_asn: asn }}>
            View announcements
          </ButtonLink>
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
          <Title order={2} size="sm">
            {methodNames[method]}
          </Title>
          <ProofBadge state={state} proves={proves} />
        </Group>
        <Text size="xs" c="dimmed">
          {checked === null ? (
            'Never checked'
          ) : (
            <>
              Checked <Time at={checked} />
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
          {!hasLines && token !== null && <CopyBlock text={token} label="Copy token" />}
        </Stack>
      )}
      <Evidence evidence={evidence} />
    </Card>
  )
}

/** Lines shown at first: any of them is enough. */
const shownLines = 3

function StepToDo({ step: { text, lines, needs } }: { step: ProofStep }) {
  const [isExpanded, setExpanded] = useState(false)
  const blocks = needs === 'one' ? lines : lines.length === 0 ? [] : [lines.join('\n')]
  return (
    <Stack gap={4}>
      <Text size="sm">{text}</Text>
      {blocks.slice(0, isExpanded ? blocks.length : shownLines).map((block) => (
        <CopyBlock key={block} text={block} label="Copy" />
      ))}
      {!isExpanded && blocks.length > shownLines && (
        <Group>
          <Button variant="subtle" size="compact-xs" onClick={() => setExpanded(true)}>
            Show {blocks.length - shownLines} more
          </Button>
        </Group>
      )}
    </Stack>
  )
}

/** Data from the last check. */
function Evidence({ evidence }: { evidence: AsnProof['evidence'] }) {
  const read = Object.entries(evidence).filter(([, value]) => value !== null)
  if (read.length === 0) return null
  return (
    <Text size="xs" c="dimmed" mt="xs">
      Evidence: {read.map(([name, value]) => `${name.replaceAll('_', ' ')} ${valueText(value)}`).join('; ')}
    </Text>
  )
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function NotOffered({ methods }: { methods: readonly AsnProof[] }) {
  const others = methods.filter((one) => !isOffered(one))
  if (others.length === 0) return null
  return (
    <Card component="section" aria-label="Not available here">
      <Title order={2} size="sm" mb={4}>
        Not available here
      </Title>
      {others.map(({ method, note }) => (
        <Text key={method} size="sm" c="dimmed">
          {methodNames[method]}: {note}
        </Text>
      ))}
    </Card>
  )
}
