// pdf.js, as the letters' threads use it: it renders pages by its public interface, and reads the table of objects by
// classes that pdf.js does not export. A line that is added to its source while loading exports them; the version is
// pinned, and a missing class fails the load. Only for threads: loading takes 300 ms and patches classes.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

/** A dictionary of the file, with access to the objects that its values refer to. */
export type Dict = {
  get(key: string): unknown
  set(key: string, value: unknown): void
}
export type Ref = { readonly num: number; readonly gen: number }
export type PdfStream = {
  readonly dict: Dict
  readonly start?: number
  makeSubStream(start: number): PdfStream
}
type Entry = { readonly uncompressed: boolean; readonly gen: number }
export type XRef = {
  readonly trailer?: Dict
  readonly encrypt?: object
  getEntry(number: number): Entry | null
  getNewTemporaryRef(): Ref
  fetch(ref: Ref): unknown
}
type Document = {
  readonly xref: XRef
  checkHeader(): void
  parseStartXRef(): void
  parse(recovery: boolean): void
}
type Internals = {
  readonly LocalPdfManager: new (args: object) => { readonly pdfDocument: Document }
  readonly Dict: { new (): Dict; readonly prototype: Dict }
  readonly Name: { new (): { readonly name: string }; get(name: string): object }
  readonly Ref: { new (): Ref; get(number: number, generation: number): Ref }
  readonly BaseStream: new () => PdfStream
  readonly Lexer: new (stream: PdfStream) => object
  readonly setVerbosityLevel: (level: number) => void
  readonly Parser: new (options: object) => { getObj(): unknown }
}

const names = ['LocalPdfManager', 'Dict', 'Name', 'Ref', 'BaseStream', 'Lexer', 'Parser', 'setVerbosityLevel']
const source = new URL(import.meta.resolve('pdfjs-dist/legacy/build/pdf.worker.mjs'))

registerHooks({
  load(url, context, nextLoad) {
    if (url !== source.href) return nextLoad(url, context)
    const text = `${readFileSync(source, 'utf8')}\nexport { ${names.join(', ')} };\n`
    return { format: 'module', source: text, shortCircuit: true }
  },
})

// The same module serves the public interface below, since the hook is in place before either is loaded.
export const internals = (await import(source.href)) as Internals
// Its warnings quote the file.
internals.setVerbosityLevel(0)
export const { getDocument, AnnotationMode } = await import('pdfjs-dist/legacy/build/pdf.mjs')

const folder = (name: string) => fileURLToPath(new URL(`../../${name}/`, source))

/** All resources come from the package's own folder; a file cannot cause a request. */
export const documentOptions = {
  verbosity: 0,
  cMapUrl: folder('cmaps'),
  cMapPacked: true,
  standardFontDataUrl: folder('standard_fonts'),
  wasmUrl: folder('wasm'),
  iccUrl: folder('iccs'),
  enableXfa: false,
  useSystemFonts: false,
  stopAtErrors: false,
} as const
