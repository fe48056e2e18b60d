// The input of a zone import, its dry run and its application.
import {
  importZoneRoute,
  zoneFileBytesMax,
  type ImportMode,
  type ImportResult,
} from '@pharos/contract/dns/import'
import type { Zone } from '@pharos/contract/dns/zone'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type SyntheticEvent } from 'react'
import { call, resultOf } from '../api/call.ts'
import { notifySuccess } from '../ui/notify.ts'
import { guessZone } from './guess-zone.ts'
import type { TransferSource } from './import-sources.tsx'
import { words } from './words.ts'
import { invalidateZones, readZoneMark } from './zone-queries.ts'

const { import: texts } = words

export const sources = ['file', 'server'] as const
export type Source = (typeof sources)[number]

export type ImportDraft = {
  readonly name: string
  readonly source: Source
  readonly content: string
  readonly server: TransferSource
  readonly mode: ImportMode
  readonly floor: string | number
  readonly dnssec: boolean
}

const bodyOf = ({ name, source, content, server, mode, floor, dnssec }: ImportDraft) => ({
  name: name.trim(),
  mode,
  ...(source === 'file' ? { zonefile: content } : { axfr: axfrOf(server) }),
  ...(floor === '' ? {} : { ttl_floor: Number(floor) }),
  ...(mode === 'create' ? { dnssec } : {}),
})

const axfrOf = ({ address, port, key }: TransferSource) => ({
  server: address.trim(),
  ...(port === '' ? {} : { port: Number(port) }),
  ...(key.trim() === '' ? {} : { tsig: key.trim() }),
})

export type Mistakes = Readonly<Record<string, string>>

const draftOf = (zone: Zone | undefined): ImportDraft => ({
  name: zone?.name ?? '',
  source: 'file',
  content: '',
  server: { address: '', port: '', key: '' },
  mode: zone ? 'merge' : 'create',
  floor: '',
  dnssec: true,
})

/** The dry run, and the import of exactly its changes. */
function useImportRequests(zone: Zone | undefined, draft: ImportDraft) {
  const navigate = useNavigate()
  const check = useMutation({
    mutationFn: async () => {
      const headers = zone ? { 'if-match': (await readZoneMark(String(zone.id))).etag } : {}
      const query = { dry_run: true } as object
      const { body } = await call(importZoneRoute, { body: bodyOf(draft), query, headers })
      return { report: resultOf<ImportResult>(body), headers }
    },
  })
  const apply = useMutation({
    // Applies exactly the reported changes.
    mutationFn: async () =>
      (await call(importZoneRoute, { body: bodyOf(draft), headers: check.data?.headers ?? {} })).body,
    onSuccess: async (result) => {
      notifySuccess(texts.applied(result.zone.name))
      check.reset()
      await invalidateZones()
      await navigate({ to: '/zones/$id', params: { id: String(result.zone.id) }, search: {} })
    },
  })
  return { check, apply }
}

export function useImport(zone: Zone | undefined) {
  const [draft, setDraft] = useState(() => draftOf(zone))
  const [file, setFile] = useState<File | null>(null)
  const [mistakes, setMistakes] = useState<Mistakes>({})
  const { check, apply } = useImportRequests(zone, draft)
  /** A report is valid only for the checked input. */
  function change(changes: Partial<ImportDraft>) {
    setDraft((now) => ({ ...now, ...changes }))
    setMistakes({})
    check.reset()
    apply.reset()
  }
  async function take(next: File | null) {
    setFile(next)
    if (next && next.size > zoneFileBytesMax) {
      change({ content: '' })
      return setMistakes({ file: texts.tooLarge })
    }
    const text = next ? await next.text() : ''
    const guessed = zone || draft.name.trim() !== '' ? undefined : guessZone(text, next?.name)
    change({ content: text, ...(guessed === undefined ? {} : { name: guessed }) })
  }
  function submit(event: SyntheticEvent) {
    event.preventDefault()
    const found = mistakesIn(draft, mistakes['file'])
    setMistakes(found)
    if (Object.keys(found).length === 0) check.mutate()
  }
  return { draft, file, mistakes, check, apply, change, take, submit }
}

export type ImportForm = ReturnType<typeof useImport>

/** `ofFile`: the mistake of a file whose text was not read. */
function mistakesIn({ name, source, content, server }: ImportDraft, ofFile: string | undefined): Mistakes {
  const found: Record<string, string> = {}
  if (name.trim() === '') found['name'] = texts.noName
  if (source === 'file' && content.trim() === '') found['file'] = ofFile ?? texts.noText
  if (source === 'server' && server.address.trim() === '') found['server'] = texts.noServer
  return found
}
