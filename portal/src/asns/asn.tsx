// The verification of an ASN: its state, each proof as a row with who acts and what to publish, and checking again now.
import { Alert, Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import {
  listAsnsRoute,
  verifyAsnRoute,
  type AsnProof,
  type AsnVerification,
  type ProofStep,
} from '@pharos/contract/inventory/asn'
import { useMutation } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { answerOf, invalidate, queryClient, useAnswer } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { CopyIcon } from '../ui/copy.tsx'
import { Facts } from '../ui/facts.tsx'
import { ButtonLink, TextLink } from '../ui/link.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Columns, Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { Ago, CopyTextButton, ObjectText, TaskRow } from '../ui/task-row.tsx'
import { daysUntil, Time } from '../ui/time.tsx'
import { textOf, usePageSearch } from '../ui/use-page-search.ts'
import { useRetryAfter } from '../ui/use-retry-after.ts'
import { AsnBadge, proofStates } from './proof-labels.tsx'
import { words } from './words.ts'

const { page: texts, facts } = words

export function AsnPage() {
  const { asn: text } = useParams({ from: '/frame/asns/$asn' })
  const number = text.replace(/^AS/i, '')
  const input = { params: { asn: Number(number) } }
  const answer = useAnswer(verifyAsnRoute, input, { refetchInterval: 15_000 })
  const check = useMutation({
    mutationFn: () => call(verifyAsnRoute, { ...input, query: { refresh: true } }),
    onSuccess: ({ body }) => {
      queryClient.setQueryData(answerOf(verifyAsnRoute, input).queryKey, body)
      notifySuccess(body.verified === null ? texts.noProof : texts.verified(body.asn))
      return invalidate(listAsnsRoute)
    },
  })
  const wait = useRetryAfter(check.error)
  const title = `AS${number}`
  if (!answer.data)
    return (
      <Page title={title} mono>
        {answer.error ? (
          <>
            <Problem error={answer.error} retry={() => answer.refetch()} />
            <TextLink to="/asns" size="sm">
              {texts.all}
            </TextLink>
          </>
        ) : (
          <Skeleton height={240} radius="lg" />
        )}
      </Page>
    )
  const proof = answer.data
  return (
    <Page
      title={title}
      mono
      state={
        <>
          <StateOf proof={proof} />
          <CopyIcon text={title} label={texts.copy} />
        </>
      }
      {...(proof.holder === null ? {} : { note: proof.holder })}
      actions={
        <Button
          variant={proof.verified === null ? 'filled' : 'default'}
          loading={check.isPending}
          disabled={wait > 0}
          onClick={() => check.mutate()}
        >
          {wait > 0 ? texts.again(wait) : texts.check}
        </Button>
      }
    >
      <Exception proof={proof} />
      {check.error && wait === 0 && <Problem error={check.error} />}
      {wait > 0 && (
        <Alert color="info" role="status">
          {texts.oncePerMinute}
        </Alert>
      )}
      <Columns rail={<Verification proof={proof} />}>
        <Proofs proof={proof} />
        <NotOffered methods={proof.methods} />
      </Columns>
    </Page>
  )
}

function StateOf({ proof }: { proof: AsnVerification }) {
  if (proof.revoked !== null) return <StatePill color="bad">{words.badge.revoked}</StatePill>
  if (proof.conflict) return <StatePill color="bad">{words.badge.conflict}</StatePill>
  return <AsnBadge {...proof} />
}

/** An alert for problems that only the provider can solve. */
function Exception({ proof: { revoked, conflict } }: { proof: AsnVerification }) {
  if (revoked !== null)
    return (
      <Alert color="bad" title={texts.revokedTitle}>
        <Time at={revoked.at} />: {texts.revoked(revoked.reason)}
      </Alert>
    )
  if (!conflict) return null
  return (
    <Alert color="bad" title={texts.conflictTitle}>
      {texts.conflict}
    </Alert>
  )
}

function Verification({ proof }: { proof: AsnVerification }) {
  const { asn, holder, rir, verified, expires } = proof
  const cidr = textOf(usePageSearch('/asns/$asn').search.cidr)
  const isVerified = verified !== null
  const canAdd = useGrant('ipam.manage')
  return (
    <Section title={facts.title}>
      <Facts
        facts={[
          [facts.state, <StateOf key="state" proof={proof} />],
          [facts.holder, holder ?? ''],
          [facts.registry, rir?.toUpperCase() ?? ''],
          [facts.since, isVerified ? <Time key="since" at={verified} /> : undefined],
          [facts.until, isVerified ? <Expiry key="until" expires={expires} /> : undefined],
          [facts.renewal, isVerified && expires !== null ? facts.renewed : undefined],
        ]}
      />
      <Group gap="xs" mt="sm">
        {canAdd && isVerified && (
          <ButtonLink
            variant={cidr === '' ? 'default' : 'filled'}
            to="/announcements/new"
            search={{ asn, ...(cidr === '' ? {} : { cidr }) }}
          >
            {cidr === '' ? texts.addPrefix(asn) : texts.continueWith(cidr)}
          </ButtonLink>
        )}
        <ButtonLink variant="default" to="/announcements" search={{ origin_asn: asn }}>
          {texts.announcements}
        </ButtonLink>
      </Group>
    </Section>
  )
}

const Expiry = ({ expires }: { expires: string | null }) =>
  expires === null ? (
    facts.noExpiry
  ) : (
    <>
      <Time at={expires} /> {facts.days(daysUntil(expires))}
    </>
  )

const isOffered = ({ state, checked }: AsnProof): boolean => state !== 'unavailable' || checked !== null

function Proofs({ proof: { methods, verified, expires, revoked } }: { proof: AsnVerification }) {
  // The provider verified it without expiry: a proof is not needed.
  const isSettled = verified !== null && expires === null
  const offered = methods.filter(isOffered)
  return (
    <Section
      title={texts.proofs}
      flush
      note={
        <Text span size="sm" c="dimmed">
          {isSettled ? texts.noneNeeded : revoked === null ? texts.oneEnough : undefined}
        </Text>
      }
    >
      {offered.map((method) => (
        <Method key={method.method} proof={method} isSettled={isSettled} isVerified={verified !== null} />
      ))}
    </Section>
  )
}

type MethodProps = { proof: AsnProof; isSettled: boolean; isVerified: boolean }

function Method({ proof, isSettled, isVerified }: MethodProps) {
  const { method, proves, state, note, steps, token, evidence, checked } = proof
  const isEvidence = proves === 'address_space'
  const isToDo = state !== 'valid' && !isVerified && !isEvidence
  const shown = proofStates[state]
  const hasLines = steps.some(({ lines }) => lines.length > 0)
  const [isOpen, setOpen] = useState(isToDo)
  return (
    <TaskRow
      color={state === 'valid' ? (isEvidence ? 'info' : 'ok') : isToDo ? shown.color : 'idle'}
      stateText={shown.label}
      title={words.methods[method]}
      who={isToDo ? texts.you : undefined}
      when={
        <>
          {state === 'valid' && isEvidence ? words.states.evidence : shown.label}
          {checked !== null && (
            <>
              {' · '}
              {texts.checked} <Ago at={checked} />, {texts.daily}
            </>
          )}
        </>
      }
      text={
        <>
          {state !== 'pending' && `${note} `}
          {words.reasons[method]}
        </>
      }
    >
      {state !== 'valid' &&
        !isSettled &&
        (isOpen ? (
          <Stack gap="sm">
            {steps.map((step) => (
              <StepToDo key={step.text} step={step} />
            ))}
            {!hasLines && token !== null && (
              <>
                <ObjectText text={token} />
                <Group>
                  <CopyTextButton text={token} />
                </Group>
              </>
            )}
          </Stack>
        ) : (
          <Group>
            <Button variant="subtle" size="compact-xs" onClick={() => setOpen(true)}>
              {texts.show}
            </Button>
          </Group>
        ))}
      <Evidence evidence={evidence} />
    </TaskRow>
  )
}

/** Lines visible at first: any of them is enough. */
const shownLines = 3

function StepToDo({ step: { text, lines, needs } }: { step: ProofStep }) {
  const [isExpanded, setExpanded] = useState(false)
  const blocks = needs === 'one' ? lines : lines.length === 0 ? [] : [lines.join('\n')]
  return (
    <Stack gap={6}>
      <Text size="sm">{text}</Text>
      {blocks.slice(0, isExpanded ? blocks.length : shownLines).map((block) => (
        <Stack key={block} gap={8}>
          <ObjectText text={block} />
          <Group>
            <CopyTextButton text={block} />
          </Group>
        </Stack>
      ))}
      {!isExpanded && blocks.length > shownLines && (
        <Group>
          <Button variant="subtle" size="compact-xs" onClick={() => setExpanded(true)}>
            {texts.more(blocks.length - shownLines)}
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
  const text = read.map(([name, value]) => `${name.replaceAll('_', ' ')} ${valueText(value)}`).join('; ')
  return (
    <Text size="xs" c="dimmed">
      {texts.evidence(text)}
    </Text>
  )
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function NotOffered({ methods }: { methods: readonly AsnProof[] }) {
  const others = methods.filter((one) => !isOffered(one))
  if (others.length === 0) return null
  return (
    <Section title={texts.notAvailable}>
      {others.map(({ method, note }) => (
        <Text key={method} size="sm" c="dimmed">
          {words.methods[method]}: {note}
        </Text>
      ))}
    </Section>
  )
}
