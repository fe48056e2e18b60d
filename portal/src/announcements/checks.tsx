// The checks of an announcement: state, who acts, the current evidence, and the object to create with a link to the registry's editor.
import { Button, Group, Select, Stack, Text, VisuallyHidden } from '@mantine/core'
import type { AuthorizationProof, Validation } from '@pharos/contract/byoip/announcement-checks'
import type { Announcement } from '@pharos/contract/byoip/announcement'
import { verifyAsnRoute } from '@pharos/contract/inventory/asn'
import { listLettersRoute } from '@pharos/contract/byoip/letter'
import { IconExternalLink } from '@tabler/icons-react'
import { useState } from 'react'
import { useAnswer } from '../api/queries.ts'
import { useUser } from '../api/use-session.ts'
import { ButtonLink } from '../ui/link.tsx'
import { Section } from '../ui/section.tsx'
import { storedChoice, useStoredChoice, type StoredChoice } from '../ui/stored-choice.ts'
import { Ago, CopyTextButton, ObjectText, TaskRow } from '../ui/task-row.tsx'
import { Time } from '../ui/time.tsx'
import { byUrgency, openChecks, viewOf, type Actor } from './check-view.ts'
import { checkName } from './history-text.ts'
import { fillObject, registries, registryOf, type Registry } from './registries.ts'
import { words } from './words.ts'

const { checks: texts } = words

/** `isPreflight`: the announcement is not stored yet, and has no page. */
type Props = { announcement: Announcement; isPreflight?: boolean }

const actorTexts: Readonly<Record<Actor, string | undefined>> = {
  you: words.you,
  provider: words.provider,
  nobody: undefined,
}

export function Checks({ announcement, isPreflight = false }: Props) {
  const { validations = [] } = announcement
  const rows = byUrgency(validations.map((check) => ({ check, view: viewOf(check, announcement) })))
  const { you } = openChecks(validations)
  const isPassed = validations.length > 0 && validations.every(({ state }) => state === 'valid')
  return (
    <Section
      title={texts.title}
      flush
      note={
        <Text span size="sm" c="dimmed">
          {validations.length === 0
            ? texts.none
            : isPassed
              ? texts.allPassed
              : you.length > 1
                ? texts.parallel
                : undefined}
        </Text>
      }
    >
      {rows.map(({ check, view }) => (
        <TaskRow
          key={check.name}
          color={view.color}
          stateText={view.stateText}
          title={checkName(check.name)}
          who={actorTexts[view.actor]}
          when={<Checked check={check} />}
          text={<SentenceOf check={check} text={view.text} id={announcement.id} isPreflight={isPreflight} />}
        >
          {check.state !== 'valid' && (
            <Fix check={check} announcement={announcement} isPreflight={isPreflight} />
          )}
        </TaskRow>
      ))}
    </Section>
  )
}

function Checked({ check: { name, state, checked } }: { check: Validation }) {
  const next = texts.next[name as keyof typeof texts.next] ?? texts.next.other
  const isPassed = state === 'valid'
  return (
    <>
      {checked === null ? (
        texts.neverChecked
      ) : (
        <>
          {texts.checked} <Ago at={checked} />
        </>
      )}
      {!isPassed && checked !== null && ` · ${next}`}
    </>
  )
}

type SentenceProps = { check: Validation; text: string; id: number; isPreflight: boolean }

/** A letter in review is named, with the time it was sent. */
function SentenceOf({ check, text, id, isPreflight }: SentenceProps) {
  const isLetter = check.name === 'loa' && check.reason === 'letter_pending' && !isPreflight
  return isLetter ? <LetterInReview id={id} fallback={text} /> : text
}

function LetterInReview({ id, fallback }: { id: number; fallback: string }) {
  const letters = useAnswer(listLettersRoute, { query: { announcement_id: [id], limit: 100 } })
  const letter = letters.data?.results.find(({ status }) => status === 'pending_review')
  if (!letter) return fallback
  return (
    <>
      {texts.letter.sent(letter.filename)} <Time at={letter.uploaded} />. {texts.letter.review}
    </>
  )
}

type FixProps = { check: Validation; announcement: Announcement; isPreflight: boolean }

/** If the API's fix is a call, links to the page that makes it. */
function Fix({ check, announcement, isPreflight }: FixProps) {
  const { name, fix, proofs } = check
  const { id, cidr, origin_asn: asn } = announcement
  if (fix === null) return null
  if (name === 'asn')
    return (
      <Group>
        <ButtonLink variant="default" to="/asns/$asn" params={{ asn: String(asn) }} search={{ cidr }}>
          {texts.asn.verify(asn)}
        </ButtonLink>
      </Group>
    )
  if (name === 'irr') return <RouteObject check={check} fix={fix} asn={asn} />
  if (name === 'rpki') return <Roa fix={fix} asn={asn} />
  if (name === 'loa')
    return (
      <Stack gap="xs">
        {(proofs?.some(({ kind }) => kind === 'letter') ?? true) &&
          (isPreflight ? (
            <Text size="sm" c="dimmed">
              {texts.letter.after}
            </Text>
          ) : (
            <Group>
              <ButtonLink
                variant="default"
                to="/announcements/$id"
                params={{ id: String(id) }}
                search={{ tab: 'letters' }}
              >
                {texts.letter.upload}
              </ButtonLink>
            </Group>
          ))}
        {proofs?.map((proof) => (
          <ProofFix key={proof.kind} proof={proof} />
        ))}
      </Stack>
    )
  return null
}

const choices = new Map<number, StoredChoice<string>>()
function choiceOf(team: number): StoredChoice<string> {
  const choice = choices.get(team) ?? storedChoice(`pharos-registry-${team}`, '')
  choices.set(team, choice)
  return choice
}

/**
 * Returns the registries that may have the objects of a prefix, the likeliest first: the registry that the user chose for the team, then the
 * regional one of the origin. Empty if neither is known: a guess would lead to the editor of a registry that refuses.
 */
function useRegistries(asn: number) {
  const verification = useAnswer(verifyAsnRoute, { params: { asn } })
  const choice = choiceOf(useUser()?.current_team.id ?? 0)
  const names = [useStoredChoice(choice), verification.data?.rir]
  return { likely: names.flatMap((name) => registryOf(name) ?? []), choose: choice.set }
}

type RegistryFieldProps = {
  readonly value: Registry | undefined
  readonly options: readonly Registry[]
  readonly onChoose: (source: string) => void
}

const RegistryField = ({ value, options, onChoose }: RegistryFieldProps) => (
  <Select
    w={140}
    aria-label={texts.registry}
    placeholder={texts.chooseRegistry}
    allowDeselect={false}
    data={options.map(({ source }) => source)}
    value={value?.source ?? null}
    onChange={(next) => next !== null && onChoose(next)}
  />
)

type RouteObjectProps = { check: Validation; fix: string; asn: number }

function RouteObject({ check, fix, asn }: RouteObjectProps) {
  const team = useUser()?.current_team.name ?? ''
  const existing = (check.evidence['objects'] as { source: string }[] | undefined)?.[0]?.source
  const { likely, choose } = useRegistries(asn)
  const [chosen, setChosen] = useState<string>()
  const registry = registryOf(chosen ?? existing) ?? likely[0]
  const text = fillObject(fix, { source: registry?.source, organization: team })
  return (
    <>
      <ObjectText text={text} />
      <Group gap="xs">
        <CopyTextButton text={text} />
        <RegistryField
          value={registry}
          options={registries}
          onChoose={(source) => {
            setChosen(source)
            choose(source)
          }}
        />
        {registry && <EditorLink editor={registry.routes} />}
      </Group>
      <Text size="xs" c="dimmed">
        {texts.duration.irr}
      </Text>
    </>
  )
}

const withRoas = registries.filter(({ roas }) => roas !== undefined)

function Roa({ fix, asn }: { fix: string; asn: number }) {
  const { likely, choose } = useRegistries(asn)
  const editor = likely.find(({ roas }) => roas !== undefined)?.roas
  return (
    <>
      <ObjectText text={fix} />
      <Group gap="xs">
        <CopyTextButton text={fix} />
        {editor ? (
          <EditorLink editor={editor} />
        ) : (
          <RegistryField value={undefined} options={withRoas} onChoose={choose} />
        )}
      </Group>
      <Text size="xs" c="dimmed">
        {texts.duration.rpki}
      </Text>
    </>
  )
}

const EditorLink = ({ editor: { name, url } }: { editor: { name: string; url: string } }) => (
  <Button
    variant="default"
    component="a"
    href={url}
    target="_blank"
    rel="noopener noreferrer"
    rightSection={<IconExternalLink size={14} aria-hidden />}
  >
    {texts.open(name)}
    <VisuallyHidden component="span">, {texts.newTab}</VisuallyHidden>
  </Button>
)

/** Kinds that the team can create; the letter has a tab, and the ROA is a separate check. */
const proofTitles: Partial<Record<AuthorizationProof['kind'], string>> = {
  dns_txt: texts.letter.dns,
  rdap: texts.letter.rdap,
}

function ProofFix({ proof: { kind, state, note, fix } }: { proof: AuthorizationProof }) {
  const title = proofTitles[kind]
  if (title === undefined || fix === null || state === 'valid') return null
  return (
    <>
      <Text size="sm">{title}</Text>
      <ObjectText text={fix} />
      <Group>
        <CopyTextButton text={fix} />
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      </Group>
    </>
  )
}
