// The changes of a zone's record sets while they are edited: review shows the plan of the server, apply sends exactly that, undo
// rolls the new version back.
import { ProblemError } from '@pharos/contract/client'
import { changeRecordSetsRoute, type RecordSet, type ZoneChanges } from '@pharos/contract/dns-recordset'
import { rollBackZoneRoute } from '@pharos/contract/dns-version'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { call } from '../api/call.ts'
import { errorSentence } from '../ui/form-errors.ts'
import { notifyFailure, notifySuccess } from '../ui/notify.ts'
import { changeCount } from './plan.tsx'
import {
  changedDrafts,
  draftOf,
  mistakesIn,
  newDraft,
  placeRowErrors,
  requestOf,
  type Draft,
  type Drafts,
  type RowErrors,
} from './record-drafts.ts'
import { words } from './words.ts'
import { invalidateZones, readZoneMark, resultOf } from './zone-queries.ts'

const { records: texts } = words

type Reviewed = { readonly plan: ZoneChanges; readonly etag: string; readonly before: number }
type Applied = { readonly version: number; readonly before: number; readonly count: number }

const noErrors: RowErrors = new Map()

export function useRecordDrafts(zone: string) {
  const [drafts, setDrafts] = useState<Drafts>(new Map())
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [errors, setErrors] = useState(noErrors)
  const [problem, setProblem] = useState<unknown>()
  const [reviewed, setReviewed] = useState<Reviewed>()
  const [applied, setApplied] = useState<Applied>()
  const nextKey = useRef(1)
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
    const { placed, rest } = placeRowErrors(found, keys, (one) => errorSentence(undefined, one))
    setErrors(placed)
    setOpen((now) => new Set([...now, ...placed.keys()]))
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
      const { body } = await call(changeRecordSetsRoute, {
        params,
        body: { recordsets: requestOf(drafts).recordsets },
        headers: { 'if-match': etag },
      })
      return { body, before }
    },
    onSuccess: async ({ body, before }) => {
      setReviewed(undefined)
      discard()
      setApplied({ version: body.version, before, count: changeCount(body) })
      await invalidateZones()
    },
    onError: (error) => fail(error, requestOf(drafts).keys),
  })
  const undo = useMutation({
    mutationFn: async ({ before, version }: Applied) => {
      // Undo takes back this change only, not one that came after it.
      const isNewest = (await readZoneMark(zone)).version === version
      if (isNewest) await call(rollBackZoneRoute, { params: { ...params, version: before } })
      return isNewest
    },
    onSuccess: async (isUndone, { before }) => {
      setApplied(undefined)
      if (isUndone) notifySuccess(texts.undone(words.version(before)))
      else notifyFailure(texts.notUndone)
      await invalidateZones()
    },
    onError: setProblem,
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
    add() {
      const draft = newDraft(`new ${nextKey.current++}`)
      put(draft)
      setIsOpen(draft.key, true)
    },
    edit(set: RecordSet) {
      if (!drafts.has(set.id)) put(draftOf(set))
      setIsOpen(set.id, true)
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
      if (mistakes.size === 0) review.mutate()
      else setOpen((now) => new Set([...now, ...mistakes.keys()]))
    },
    apply: () => reviewed && apply.mutate(reviewed),
    closeReview: () => setReviewed(undefined),
    undo: () => applied && undo.mutate(applied),
    dismiss: () => setApplied(undefined),
  }
}
export type RecordDrafts = ReturnType<typeof useRecordDrafts>
