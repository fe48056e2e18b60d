// The versions of a zone, newest first: who changed what, the difference, and the way back.
import { Button, Modal, Skeleton, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  getZoneVersionRoute,
  listZoneVersionsRoute,
  rollBackZoneRoute,
  type ZoneVersion,
} from '@pharos/contract/dns/version'
import type { ZoneChanges } from '@pharos/contract/dns/recordset'
import type { Zone } from '@pharos/contract/dns/zone'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useMemberNames } from '../announcements/use-member-names.ts'
import { call, resultOf } from '../api/call.ts'
import { answerOverLastOf, useAnswer } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { Empty } from '../ui/empty.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { ReviewedPlan } from '../ui/reviewed-plan.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { Plan } from './plan.tsx'
import { words } from './words.ts'
import { invalidateZones, readZoneMark } from './zone-queries.ts'
import classes from './zones.module.css'

const { history: texts } = words
const step = 50
const limitMax = 1000

export function History({ zone }: { zone: Zone }) {
  const [limit, setLimit] = useState(step)
  const answer = useQuery({
    ...answerOverLastOf(listZoneVersionsRoute, { params: { zone: String(zone.id) }, query: { limit } }),
    refetchInterval: 15_000,
  })
  const names = useMemberNames()
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={() => answer.refetch()} />
  if (!answer.data) return <Skeleton height={240} radius="lg" />
  const { results, count } = answer.data
  if (count === 0) return <Empty title={texts.none} />
  return (
    <Stack>
      <ol className={classes['history']}>
        {results.map((version) => (
          <Entry
            key={version.version}
            zone={zone}
            version={version}
            actor={nameOf(version.actor, names)}
            isNewest={version.version === zone.details?.version}
          />
        ))}
      </ol>
      {results.length < Math.min(count, limitMax) && (
        <div>
          <Button variant="default" onClick={() => setLimit((now) => Math.min(now + step, limitMax))}>
            {texts.more}
          </Button>
        </div>
      )}
    </Stack>
  )
}

function nameOf(actor: string, names: ReadonlyMap<string, string>): string {
  if (actor === 'pharos') return texts.pharos
  return names.get(actor) ?? (actor.startsWith('user:') ? texts.member : texts.provider)
}

type EntryProps = { zone: Zone; version: ZoneVersion; actor: string; isNewest: boolean }

function Entry({ zone, version: entry, actor, isNewest }: EntryProps) {
  const { version, at, what, added_count: added, changed_count: changed, removed_count: removed } = entry
  const canEdit = useGrant('dns.edit')
  const [isOpen, setOpen] = useState(false)
  return (
    <li>
      <div className={classes['entry']}>
        <span className={classes['entryName']}>{words.version(version)}</span>
        <span>{texts.whats[what] ?? texts.whatOther}</span>
        <span className={classes['entryFacts']}>
          {actor} · <Time at={at} />
        </span>
        <span className={classes['counts']} title={words.plan.count(added, changed, removed)}>
          {texts.counts(added, changed, removed)}
        </span>
        {isNewest && <StatePill color="ok">{texts.newest}</StatePill>}
        <div className={classes['entryActions']}>
          <Button
            variant="subtle"
            size="compact-sm"
            aria-expanded={isOpen}
            aria-label={texts.showOf(version)}
            onClick={() => setOpen(!isOpen)}
          >
            {texts.show}
          </Button>
          {canEdit && !isNewest && zone.kind === 'primary' && <RollBack zone={zone} version={version} />}
        </div>
      </div>
      {isOpen && <Difference zone={zone} version={version} />}
    </li>
  )
}

function Difference({ zone, version }: { zone: Zone; version: number }) {
  const answer = useAnswer(getZoneVersionRoute, { params: { zone: String(zone.id), version } })
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={() => answer.refetch()} />
  if (!answer.data) return <Skeleton height={60} mt="xs" />
  return (
    <Stack gap={6} mt="xs">
      <Plan changes={answer.data} />
    </Stack>
  )
}

function RollBack({ zone, version }: { zone: Zone; version: number }) {
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button variant="default" size="compact-sm" aria-label={texts.rollbackOf(version)} onClick={open}>
        {texts.rollback}
      </Button>
      <Modal opened={opened} onClose={close} title={texts.rollbackTitle(version)} size="lg">
        <Stack>
          <Text size="sm">{texts.rollbackText}</Text>
          <ReviewedRollBack zone={zone} version={version} onClose={close} />
        </Stack>
      </Modal>
    </>
  )
}

type ReviewedProps = { zone: Zone; version: number; onClose: () => void }

function ReviewedRollBack({ zone: { id, name }, version, onClose }: ReviewedProps) {
  const params = { zone: String(id), version }
  return (
    <ReviewedPlan
      queryKey={['zone rollback plan', params]}
      name={name}
      read={async () => {
        const { etag } = await readZoneMark(params.zone)
        const { body } = await call(rollBackZoneRoute, {
          params,
          query: { dry_run: true } as object,
          headers: { 'if-match': etag },
        })
        return { changes: resultOf<ZoneChanges>(body), etag }
      }}
      apply={(etag) => call(rollBackZoneRoute, { params, headers: { 'if-match': etag } })}
      onApplied={async () => {
        onClose()
        notifySuccess(texts.rolledBack(version))
        await invalidateZones()
      }}
      onClose={onClose}
      action={texts.rollback}
    >
      {({ changes }) => <Plan changes={changes} />}
    </ReviewedPlan>
  )
}
