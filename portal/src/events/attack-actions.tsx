// Actions against an attack, each with a preview of its effect.
import { Button, NativeSelect, Text } from '@mantine/core'
import type { RelatedEventDetail, Relationship } from '@pharos/contract/events/event'
import {
  getAnnouncementRoute,
  listRegionsRoute,
  type Announcement,
  type Region,
} from '@pharos/contract/byoip/announcement'
import { listIncidentsRoute } from '@pharos/contract/events/incident'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState, type ReactNode } from 'react'
import { EnableDialog } from '../announcements/enable-dialog.tsx'
import { namesOfRegions } from '../announcements/region-target.ts'
import { answerOf, useAnswer } from '../api/queries.ts'
import { useGrant, useHasModule } from '../api/use-grant.ts'
import { shareText } from '../shield/share-text.ts'
import { words as shieldWords } from '../shield/words.ts'
import { brand } from '../ui/brand.ts'
import { ButtonLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import classes from './events.module.css'
import { mitigationOf } from './mitigation.ts'
import { idOf, type Relationships } from './use-relationships.ts'
import { words } from './words.ts'

/** Loaded only for teams with the module. */
const Suggestions = lazy(async () => ({ default: (await import('../shield/suggestions.tsx')).Suggestions }))
const RulesInPlace = lazy(async () => ({ default: (await import('../shield/suggestions.tsx')).RulesInPlace }))

const BlackholeOfHost = lazy(async () => ({
  default: (await import('../shield/blackholes.tsx')).BlackholeOfHost,
}))

const { actions: texts } = words
const { suggest: shieldTexts } = shieldWords

type Props = { readonly event: RelatedEventDetail; readonly relationships: Relationships }

export function AttackActions({ event, relationships }: Props) {
  const hasIpam = useHasModule('ipam')
  const canWithdraw = useGrant('ipam.operate') && hasIpam
  const hasShield = useHasModule('shield')
  const { affected_network: network } = event
  const announcement = relationships.list?.find(({ match_resource: kind }) => kind === 'announcement')
  const covering = relationships.list?.find(isNetwork) ?? announcement
  return (
    <Section title={texts.title}>
      <ul className={classes['steps']}>
        <Mitigation event={event} hasShield={hasShield} />
        {hasShield && network !== '' && (
          <Suspense>
            <Step
              title={shieldTexts.title}
              text={<Suggestions eventId={event.id} isOngoing={event.end === null} />}
            />
            <RulesInPlace
              network={network}
              frame={(content) => <Step title={shieldTexts.inPlace} text={content} />}
            />
          </Suspense>
        )}
        {hasShield && isHost(network) && (
          <Suspense>
            <BlackholeOfHost
              host={network.replace(/\/.*/, '')}
              eventId={event.id}
              canStart={event.end === null && announcement !== undefined}
              frame={(title, text, tools) => (
                <Step title={title} text={text}>
                  {tools}
                </Step>
              )}
            />
          </Suspense>
        )}
        {canWithdraw && event.end === null && announcement && <Withdraw id={Number(idOf(announcement))} />}
        {covering && <Related cidr={covering.match_value} />}
        {brand.support !== '' && (
          <Step title={texts.contact(brand.name)} text={texts.contactText}>
            <Button variant="default" component="a" href={brand.support}>
              {texts.contactAction}
            </Button>
          </Step>
        )}
      </ul>
    </Section>
  )
}

/** Whether the target is one address. */
const isHost = (network: string) => /^[^/]+(\/(32|128))?$/.test(network) && !/:.*\/32$/.test(network)

/** The neighbors in the network that is nearest to the target. */
const isNetwork = ({ match_resource: kind, match_type: type }: Relationship) =>
  kind === 'prefix' && (type === 'covers' || type === 'exact')

type StepProps = {
  readonly title: ReactNode
  readonly color?: StateColor
  readonly text: ReactNode
  readonly children?: ReactNode
}

const Step = ({ title, color, text, children }: StepProps) => (
  <li>
    <h3>{color === undefined ? title : <StatePill color={color}>{title}</StatePill>}</h3>
    <div className={classes['stepText']}>{text}</div>
    {children !== undefined && <div className={classes['stepTools']}>{children}</div>}
  </li>
)

const byRulesText = (state: 'active' | 'ended', share: number | null): string =>
  share === null ? texts.byRules[state] : texts.rulesDrop(shareText(share))

function Mitigation({ event, hasShield }: { event: RelatedEventDetail; hasShield: boolean }) {
  const { state, by, share, actions } = mitigationOf(event)
  const done = actions.join(', ')
  const blackholed = event.flags.includes('BLACKHOLED') && texts.blackholed
  if (state === 'unknown')
    return (
      <Step
        title={texts.mitigationUnknown}
        color="idle"
        text={blackholed || (hasShield ? texts.unknownWithRules : texts.unknownText)}
      />
    )
  const isByRules = by.some(({ source }) => source === 'rules')
  return (
    <Step
      title={state === 'active' ? texts.mitigationActive : texts.mitigationEnded}
      color={state === 'active' ? 'ok' : 'idle'}
      text={
        <>
          {by.map(({ source, since }) => (
            <div key={source}>
              {source === 'rules' ? byRulesText(state, share) : reportedText(done, since)}{' '}
              {since !== undefined && <Time at={since} />}
            </div>
          ))}
          {blackholed !== false && <div>{blackholed}</div>}
        </>
      }
    >
      {isByRules && hasShield && (
        <ButtonLink variant="default" to="/shield" search={{ prefix: event.affected_network }}>
          {texts.viewRules}
        </ButtonLink>
      )}
    </Step>
  )
}

const reportedText = (actions: string, since: string | undefined): string =>
  (since === undefined ? texts.byDetector : texts.byDetectorSince).replace(
    /^R/,
    actions === '' ? 'R' : `${actions}, r`,
  )

function Withdraw({ id }: { id: number }) {
  const answer = useQuery(
    answerOf(getAnnouncementRoute, {
      params: { announcement_id: id },
      query: { include: 'region_states,details' },
    }),
  )
  const regions = useAnswer(listRegionsRoute, { query: { limit: 1000 } })
  if (answer.error && !answer.data)
    return (
      <Step
        title={texts.withdrawTitle}
        text={<Problem error={answer.error} retry={() => answer.refetch()} />}
      />
    )
  if (!answer.data) return null
  return <WithdrawIn announcement={answer.data} regions={regions.data?.results ?? []} />
}

/** Renders only announcements that routers announce for the team. */
function WithdrawIn({ announcement, regions }: { announcement: Announcement; regions: readonly Region[] }) {
  const { cidr, enabled, region_states: states = [] } = announcement
  const wanted = states.filter(({ desired }) => desired).map(({ region }) => region)
  const [chosen, setChosen] = useState<string>()
  const [opened, { open, close }] = useDisclosure(false)
  const region = chosen !== undefined && wanted.includes(chosen) ? chosen : wanted[0]
  if (!enabled || region === undefined) return null
  const named = namesOfRegions(regions)
  const kept = wanted.filter((one) => one !== region)
  return (
    <Step
      title={texts.withdraw(named([region]))}
      text={
        <>
          {texts.withdrawWhole(cidr)}{' '}
          {kept.length > 0 ? texts.staysIn(cidr, named(kept)) : texts.staysNowhere(cidr)}
        </>
      }
    >
      {wanted.length > 1 && (
        <NativeSelect
          aria-label={texts.region}
          value={region}
          data={wanted.map((value) => ({ value, label: named([value]) }))}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
      )}
      <Button variant="default" onClick={open}>
        {texts.preview}
      </Button>
      <EnableDialog
        announcement={announcement}
        regions={regions}
        change={{ enabled: false, region }}
        opened={opened}
        onClose={close}
      />
    </Step>
  )
}

const dayMs = 86_400_000
const hourMs = 3_600_000

function Related({ cidr }: { cidr: string }) {
  // Rounded to hours, so that the request is cached.
  const start = new Date(Math.floor(Date.now() / hourMs) * hourMs - 30 * dayMs).toISOString()
  const { data } = useAnswer(listIncidentsRoute, { query: { affected_network: cidr, start, limit: 1 } })
  if (!data || data.count === 0) return null
  return (
    <Step
      title={
        <>
          {texts.related(data.count.toLocaleString('en'), data.count === 1)}{' '}
          <Text span inherit fw={400}>
            {texts.relatedOn(cidr)}
          </Text>
        </>
      }
      text={data.count === 1 ? texts.relatedOne : texts.relatedMany}
    >
      {data.count > 1 && (
        <ButtonLink variant="default" to="/events" search={{ affected_network: cidr, range: '30d' }}>
          {texts.view}
        </ButtonLink>
      )}
    </Step>
  )
}
