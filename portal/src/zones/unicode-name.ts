// Domain names in the letters of their owner: A-labels decoded by Punycode (RFC 3492). Pure.

const [base, tMin, tMax, skew, damp, firstBias, firstCode] = [36, 1, 26, 38, 700, 72, 128] as const

/** Returns the value of a basic code point: `a` to `z` are 0 to 25, digits 26 to 35. */
function digitOf(char: string): number {
  const value = Number.parseInt(char, base)
  if (Number.isNaN(value)) throw new RangeError('no digit of Punycode')
  return value < 10 ? value + 26 : value - 10
}

function adapt(delta: number, points: number, isFirst: boolean): number {
  let left = Math.floor(delta / (isFirst ? damp : 2))
  left += Math.floor(left / points)
  let k = 0
  for (; left > ((base - tMin) * tMax) / 2; k += base) left = Math.floor(left / (base - tMin))
  return k + Math.floor(((base - tMin + 1) * left) / (left + skew))
}

/** Decodes the part after `xn--`. Throws a RangeError for text that is not Punycode. */
function decode(text: string): string {
  if (text === '') throw new RangeError('no Punycode')
  const end = text.lastIndexOf('-')
  const basic = text.slice(0, Math.max(end, 0))
  const output = [...basic]
  let [code, at, bias] = [firstCode as number, 0, firstBias as number]
  for (let place = end + 1; place < text.length;) {
    const before = at
    for (let weight = 1, k = base; ; k += base) {
      const digit = digitOf(text[place++] ?? '')
      at += digit * weight
      const limit = Math.min(Math.max(k - bias, tMin), tMax)
      if (digit < limit) break
      weight *= base - limit
    }
    const points = output.length + 1
    bias = adapt(at - before, points, before === 0)
    code += Math.floor(at / points)
    at %= points
    output.splice(at++, 0, String.fromCodePoint(code))
  }
  return output.join('')
}

/** Returns the name with its A-labels in Unicode; undefined without A-labels, or if one is invalid. */
export function unicodeName(name: string): string | undefined {
  try {
    const shown = name
      .split('.')
      .map((label) => (/^xn--/i.test(label) ? decode(label.slice(4).toLowerCase()) : label))
      .join('.')
    return shown === name ? undefined : shown
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
