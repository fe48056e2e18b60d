// The changes of a zone's record sets while they are edited: a row is checked when it is left, review shows the plan of the server,
// apply sends exactly that, undo rolls the new version back.
import { ProblemError } from '@pharos/contract/client'
import { changeRecordSetsRoute, type RecordSet, type ZoneChanges } from '@pharos/contract/dns/recordset'
import { recordSetsAtOnce } from '@pharos/contract/dns/term'
import { rollBackZoneRoute } from '@pharos/contract/dns/version'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { call, resultOf } from '../api/call.ts'
import { errorSentence } from '../ui/form-errors.ts'
import type { FieldBreach } from '../ui/form-rules.ts'
import { isPreconditionFailed } from '../ui/newer-version.tsx'
import { notifyFailure, notifySuccess } from '../ui/notify.ts'
import { isForPeople } from '../ui/person-text.ts'
import { changeCount } from './plan.tsx'
import {
  changedDrafts,
  draftOf,
  isBlank,
  isChanged,
  mistakesIn,
  newDraft,
  placeRowErrors,
  requestOf,
  type Draft,
  type Drafts,
  type RowErrors,
  type RowFieldErrors,
} from './record-drafts.ts'
import { words } from './words.ts'
import { invalidateZones, readZoneMark } from './zone-queries.ts'

const { records: texts } = words

type Reviewed = { readonly plan: ZoneChanges; readonly etag: string; readonly before: number }
type Applied = {
  readonly version: number
  readonly before: number
  readonly count: number
  readonly etag: string
}

const noErrors: RowErrors = new Map()
/** A message that names the part of the value needs no other subject: `preference: not a number`. */
const sentence = (error: FieldBreach) =>
  /^[a-z][a-z ]*: /.test(error.msg) && isForPeople(error.msg)
    ? `${error.msg[0]!.toUpperCase()}${error.msg.slice(1)}${/[.!?]$/.test(error.msg) ? '' : '.'}`
    : errorSentence(undefined, error)

/** Moves the focus to the first field with an error, once it is rendered. */
function focusFirstMistake(): void {
  setTimeout(
    () => document.querySelector<HTMLElement>('[data-records] [aria-invalid=true]')?.focus(),
    focusAfterMs,
  )
}
/** A dialog that closes gives the focus back first. */
const focusAfterMs = 300

/** Keeps mistakes of the other rows. */
function withoutMistakes(drafts: Drafts): Drafts {
  const mistakes = mistakesIn(drafts)
  return new Map([...drafts].filter(([key]) => !mistakes.has(key)))
}

function withErrors(errors: RowErrors, key: string, found: RowFieldErrors): RowErrors {
  const others = [...errors].filter(([one]) => one !== key)
  return new Map(Object.keys(found).length === 0 ? others : [...others, [key, found]])
}

export function useRecordDrafts(zone: string) {
  const [drafts, setDrafts] = useState<Drafts>(new Map())
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [errors, setErrors] = useState(noErrors)
  const [problem, setProblem] = useState<unknown>()
  const [reviewed, setReviewed] = useState<Reviewed>()
  const [applied, setApplied] = useState<Applied>()
  const nextKey = useRef(1)
  const latest = useRef(drafts)
  latest.current = drafts
  const params = { zone }

  const put = (draft: Draft) => {
    setDrafts((now) => new Map(now).set(draft.key, draft))
    setErrors((now) => (now.has(draft.key) ? new Map([...now].filter(([key]) => key !== draft.key)) : now))
    setApplied(undefined)
  }
  const setIsOpen = (key: string, isOpen: boolean) =>
    setOpen((now) => new Set(isOpen ? [...now, key] : [...now].filter((one) => one !== key)))
  const drop = (key: string) => {
    setDrafts((now) => new Map([...now].filter(([one]) => one !== key)))
    setErrors((now) => new Map([...now].filter(([one]) => one !== key)))
    setIsOpen(key, false)
  }
  const discard = () => {
    setDrafts(new Map())
    setOpen(new Set())
    setErrors(noErrors)
    setProblem(undefined)
  }

  /** Places what belongs to a row there; everything else is the problem above the table. */
  function fail(error: unknown, keys: readonly string[]) {
    const found = error instanceof ProblemError ? (error.problem.errors ?? []) : []
    const { placed, rest } = placeRowErrors(found, keys, sentence)
    setErrors(placed)
    setOpen((now) => new Set([...now, ...placed.keys()]))
    focusFirstMistake()
    setProblem(placed.size > 0 && rest.length === 0 ? undefined : error)
    setReviewed(undefined)
  }

  const review = useMutation({
    mutationFn: async () => {
      const { etag, version } = await readZoneMark(zone)
      const answer = await call(changeRecordSetsRoute, {
        params,
        body: { recordsets: requestOf(drafts).recordsets },
        query: { dry_run: true } as object,
        headers: { 'if-match': etag },
      })
      return { plan: resultOf<ZoneChanges>(answer.body), etag, before: version }
    },
    onMutate: () => setProblem(undefined),
    onSuccess: (plan) => {
      setErrors(noErrors)
      setReviewed(plan)
    },
    onError: (error) => fail(error, requestOf(drafts).keys),
  })
  const apply = useMutation({
    mutationFn: async ({ etag, before }: Reviewed) => {
      const { body, headers } = await call(changeRecordSetsRoute, {
        params,
        body: { recordsets: requestOf(drafts).recordsets },
        headers: { 'if-match': etag },
      })
      return { body, before, etag: headers.get('etag') ?? '' }
    },
    onSuccess: async ({ body, before, etag }) => {
      setReviewed(undefined)
      discard()
      setApplied({ version: body.version, before, count: changeCount(body), etag })
      await invalidateZones()
    },
    onError: (error) => fail(error, requestOf(drafts).keys),
  })
  const undo = useMutation({
    // The version that was applied must be the newest, because undo must not revert a later change.
    mutationFn: ({ before, etag }: Applied) =>
      call(rollBackZoneRoute, { params: { ...params, version: before }, headers: { 'if-match': etag } }),
    onSuccess: async (_answer, { before }) => {
      setApplied(undefined)
      notifySuccess(texts.undone(words.version(before)))
      await invalidateZones()
    },
    onError: async (error) => {
      if (!isPreconditionFailed(error)) return setProblem(error)
      setApplied(undefined)
      notifyFailure(texts.notUndone)
      await invalidateZones()
    },
  })
  const check = useMutation({
    mutationFn: async ({ key, drafts: checked }: { key: string; drafts: Drafts }) => {
      const { recordsets, keys } = requestOf(withoutMistakes(checked))
      if (!keys.includes(key)) return {}
      try {
        await call(changeRecordSetsRoute, {
          params,
          body: { recordsets },
          query: { dry_run: true } as object,
        })
        return {}
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error
        return placeRowErrors(error.problem.errors ?? [], keys, sentence).placed.get(key) ?? {}
      }
    },
    // An answer that comes late is about a row that was changed since; what else fails is told by the review.
    onSuccess: (found, { key, drafts: checked }) => {
      if (latest.current.get(key) === checked.get(key)) setErrors((now) => withErrors(now, key, found))
    },
  })

  return {
    drafts,
    changed: changedDrafts(drafts).length,
    errors,
    problem,
    reviewed,
    applied,
    isReviewing: review.isPending,
    isApplying: apply.isPending,
    isUndoing: undo.isPending,
    isOpen: (key: string) => open.has(key),
    setIsOpen,
    put,
    drop,
    discard,
    add(start: Partial<Draft> = {}) {
      const draft = { ...newDraft(`new ${nextKey.current++}`), ...start }
      put(draft)
      setIsOpen(draft.key, true)
    },
    /** The row lost focus: shows its mistakes in place. */
    leave(key: string) {
      const draft = drafts.get(key)
      if (draft === undefined || draft.isRemoved || !isChanged(draft) || isBlank(draft)) return
      const mistakes = mistakesIn(drafts).get(key)
      if (mistakes) setErrors((now) => withErrors(now, key, mistakes))
      else check.mutate({ key, drafts })
    },
    edit(set: RecordSet) {
      if (!drafts.has(set.id)) put(draftOf(set))
      setIsOpen(set.id, true)
    },
    /** Replaces the draft by the set as it is now. */
    restart: (set: RecordSet) => put(draftOf(set)),
    setTtl(sets: readonly RecordSet[], ttl: string) {
      for (const set of sets) put({ ...(drafts.get(set.id) ?? draftOf(set)), isRemoved: false, ttl })
    },
    remove(sets: readonly RecordSet[]) {
      for (const set of sets) {
        put({ ...draftOf(set), isRemoved: true })
        setIsOpen(set.id, false)
      }
    },
    review() {
      const mistakes = mistakesIn(drafts)
      setErrors(mistakes)
      if (mistakes.size === 0 && requestOf(drafts).keys.length > recordSetsAtOnce)
        notifyFailure(texts.tooMany(recordSetsAtOnce))
      else if (mistakes.size === 0) review.mutate()
      else {
        setOpen((now) => new Set([...now, ...mistakes.keys()]))
        focusFirstMistake()
      }
    },
    apply: () => reviewed && apply.mutate(reviewed),
    closeReview: () => setReviewed(undefined),
    undo: () => applied && undo.mutate(applied),
    dismiss: () => setApplied(undefined),
  }
}
export type RecordDrafts = ReturnType<typeof useRecordDrafts>
