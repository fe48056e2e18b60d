// Parses the settings in pharos.yaml, each with its line number. It reads text only, no file and no variable.
import { LineCounter, isMap, isNode, isScalar, parseDocument, visit, type Document } from 'yaml'
import { didYouMean } from '../text/did-you-mean.ts'
import { meaningOf, settingNames, type SettingName } from './settings.ts'

/** A value and its source, as printed in errors. */
export type Located = { readonly value: unknown; readonly source: string }

/** The settings of one source. */
export type GivenSettings = { [K in SettingName]?: Located }

/** Parses the text of a settings file; errors are added to `problems` as `file:line: problem`. */
export function readYamlSettings(path: string, text: string, problems: string[]): GivenSettings {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const at: At = (offset) => `${path}:${lines.linePos(offset ?? 0).line}`
  for (const error of document.errors) problems.push(`${at(error.pos[0])}: ${error.message}`)
  if (document.errors.length > 0 || document.contents === null) return {}
  return readKeys(document, path, at, problems)
}

function readKeys(document: Document, path: string, at: At, problems: string[]): GivenSettings {
  if (!isMap(document.contents)) {
    problems.push(`${path}:1: settings are written as name: value, one on a line`)
    return {}
  }
  const given: GivenSettings = {}
  for (const { key, value } of document.contents.items) {
    const name = isScalar(key) ? String(key.value) : '?'
    const source = at(isNode(key) ? key.range?.[0] : 0)
    if (!isSetting(name))
      problems.push(`${source}: there is no setting ${name}${didYouMean(name, settingNames)}`)
    else if (hasAlias(value)) problems.push(`${source}: write the value of ${name} out, without an alias`)
    else given[name] = { value: plain(name, value, document), source }
  }
  return given
}

type At = (offset: number | undefined) => string

function isSetting(name: string): name is SettingName {
  return (settingNames as readonly string[]).includes(name)
}

function hasAlias(node: unknown): boolean {
  let found = false
  if (isNode(node)) visit(node, { Alias: () => ((found = true), visit.BREAK) })
  return found
}

/** Returns the node as a plain value; for a list, `a,b` and `[a, b]` are the same, as in a variable. */
function plain(name: SettingName, node: unknown, document: Document): unknown {
  const value: unknown = isNode(node) ? node.toJS(document) : null
  const isList = Array.isArray(meaningOf(name).byDefault)
  return isList && typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value
}
