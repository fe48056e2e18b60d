// A letter of authorization in review: its pages at the left, what it has to contain at the right, and the decision.
import { Button, Checkbox, Group, Stack, Text, Textarea } from '@mantine/core'
import {
  acceptLetterRoute,
  getLetterFileToReviewRoute,
  getLetterToReviewRoute,
  rejectLetterRoute,
  type ReviewedLetter,
} from '@pharos/contract/byoip/letter'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { brand } from '../ui/brand.ts'
import { Mono } from '../ui/cells.tsx'
import { CopyIcon } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { download } from '../ui/export-file.ts'
import { Facts } from '../ui/facts.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Section } from '../ui/section.tsx'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { formatTime, Time } from '../ui/time.tsx'
import { CustomerLink } from './change-view.tsx'
import { DecisionButton } from './decision.tsx'
import { Effects } from './effects.tsx'
import { refreshInbox } from './inbox-rows.ts'
import { LetterPages } from './letter-pages.tsx'
import { letterText } from './request-text.ts'
import { listed, words } from './words.ts'
import classes from './staff.module.css'

const { letters: t } = words

const colors: Record<ReviewedLetter['status'], StateColor> = {
  pending_review: 'warn',
  accepted: 'ok',
  rejected: 'bad',
}

export const LetterPill = ({ status }: Pick<ReviewedLetter, 'status'>) => (
  <StatePill color={colors[status]}>{t.states[status]}</StatePill>
)

export function LetterView({ letter }: { letter: ReviewedLetter }) {
  return (
    <div className={classes['container']}>
      <div className={classes['review']}>
        <LetterPages letter={letter} />
        <Stack gap="md">
          {letter.status === 'pending_review' && <Review key={letter.id} letter={letter} />}
          <About letter={letter} />
        </Stack>
      </div>
    </div>
  )
}

type Point = { readonly name: string; readonly expected: readonly string[]; readonly mono?: boolean }

const pointsOf = ({ team, announcements, valid_until }: ReviewedLetter): readonly Point[] => [
  { name: t.check.company, expected: [t.companyOf(team.name)] },
  { name: t.check.prefix, expected: announcements.map(({ cidr }) => cidr), mono: true },
  {
    name: t.check.asn,
    expected: [...new Set(announcements.map(({ origin_asn }) => `AS${origin_asn}`))],
    mono: true,
  },
  { name: t.check.provider, expected: [t.providerOf(brand.name)] },
  {
    name: t.check.dates,
    expected: [t.datesOf(valid_until === null ? null : formatTime(valid_until, 'local'))],
  },
  { name: t.check.signature, expected: [t.signatureOf] },
]

function Review({ letter }: { letter: ReviewedLetter }) {
  const [found, setFound] = useState<readonly string[]>([])
  const points = pointsOf(letter)
  const missing = points.length - found.length
  return (
    <Section title={t.checks}>
      <Text size="sm" c="dimmed" mb="xs">
        {t.checksHelp}
      </Text>
      <Checkbox.Group aria-label={t.checks} value={[...found]} onChange={setFound}>
        <Stack gap="xs">
          {points.map(({ name, expected, mono = false }) => (
            <Checkbox
              key={name}
              value={name}
              label={name}
              description={expected.map((one) => (
                <span key={one} style={{ display: 'block' }}>
                  {mono ? <Mono>{one}</Mono> : one}
                </span>
              ))}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      <Text size="xs" c="dimmed" mt="sm" aria-live="polite" mih={18}>
        {missing > 0 ? t.missing(missing) : ''}
      </Text>
      <Group gap="xs" mt={4}>
        <Accept letter={letter} isReady={missing === 0} />
        <Reject letter={letter} />
      </Group>
    </Section>
  )
}

function About({ letter }: { letter: ReviewedLetter }) {
  const { id, team, uploaded, uploaded_by_name, valid_until, sha256, filename, status, reason, reviewed } =
    letter
  async function downloadFile() {
    const { body } = await call(getLetterFileToReviewRoute, { params: { letter_id: id } })
    download(filename, body as unknown as Blob)
  }
  return (
    <Section title={letterText(letter.announcements.map(({ cidr }) => cidr))}>
      <Facts
        facts={[
          [words.letters.columns.status, <LetterPill key="status" status={status} />],
          [t.rejectedFor, status === 'rejected' ? (reason ?? undefined) : undefined],
          [t.columns.customer, <CustomerLink key="team" team={team} />],
          [t.columns.by, uploaded_by_name],
          [t.columns.uploaded, <Time key="uploaded" at={uploaded} />],
          [t.columns.until, valid_until === null ? t.noExpiry : <Time key="until" at={valid_until} />],
          [t.columns.reviewed, reviewed === null ? undefined : <Time key="reviewed" at={reviewed} />],
          [t.file, filename],
          [
            t.fingerprint,
            <Group key="sha" gap={4} wrap="nowrap">
              <Mono>{sha256.slice(0, 16)}…</Mono>
              <CopyIcon text={sha256} label={t.fingerprint} />
            </Group>,
          ],
        ]}
      />
      <Group mt="xs">
        <Button size="xs" variant="default" onClick={() => void downloadFile().catch(notifyProblem)}>
          {t.download}
        </Button>
      </Group>
    </Section>
  )
}

const refresh = () => Promise.all([refreshInbox(), invalidate(getLetterToReviewRoute)])

function Accept({ letter, isReady }: { letter: ReviewedLetter; isReady: boolean }) {
  const { id, team, announcements } = letter
  return (
    <Dialog
      route={acceptLetterRoute}
      title={t.acceptTitle}
      action={words.accept}
      trigger={(open) => (
        <DecisionButton label={words.accept} shortcut="a" isPrimary disabled={!isReady} onClick={open} />
      )}
      onSubmit={async () => {
        await call(acceptLetterRoute, { params: { letter_id: id }, body: {} })
        await refresh()
      }}
    >
      <Effects confirms texts={[t.acceptText(team.name, listed(announcements.map(({ cidr }) => cidr)))]} />
    </Dialog>
  )
}

function Reject({ letter: { id } }: { letter: ReviewedLetter }) {
  return (
    <Dialog
      title={t.rejectTitle}
      action={words.reject}
      danger
      route={rejectLetterRoute}
      initialValues={{ reason: '' }}
      trigger={(open) => <DecisionButton label={words.reject} shortcut="r" onClick={open} />}
      onSubmit={async (body) => {
        await call(rejectLetterRoute, { params: { letter_id: id }, body })
        await refresh()
      }}
    >
      {(fields) => {
        const add = (text: string) => {
          const { reason } = fields.getValues()
          if (!reason.includes(text))
            fields.setFieldValue('reason', reason === '' ? text : `${reason}\n${text}`)
        }
        return (
          <>
            <Effects texts={[t.rejectText]} />
            <div role="group" aria-label={t.presets}>
              <Text size="sm" fw={500} mb={4}>
                {t.presets}
              </Text>
              <Stack gap={4} align="flex-start">
                {Object.entries(t.presetReasons).map(([name, text]) => (
                  <Button key={name} size="compact-sm" variant="default" onClick={() => add(text)}>
                    {text}
                  </Button>
                ))}
              </Stack>
            </div>
            <Textarea
              label={t.reason}
              description={t.reasonHelp}
              required
              data-autofocus
              autosize
              minRows={3}
              maxRows={10}
              maxLength={1000}
              {...fields.getInputProps('reason')}
            />
          </>
        )
      }}
    </Dialog>
  )
}
