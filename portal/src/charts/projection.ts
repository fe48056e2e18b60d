// The projection of the world map: Equal Earth (Savric, Patterson, Jenny 2018), in closed form. Pure.

const [a1, a2, a3, a4] = [1.340264, -0.081106, 0.000893, 0.003796]
const root3 = Math.sqrt(3)

/** The map's view: from 84 degrees north to 56 south. */
export const mapSize = { width: 720, height: 312 } as const

const degree = Math.PI / 180
/** The meridian in the middle, so that the far east of Siberia is on the right. */
const middle = 11

function equalEarth(longitude: number, latitude: number): [number, number] {
  const angle = Math.asin((root3 / 2) * Math.sin(latitude * degree))
  const square = angle * angle
  const sixth = square ** 3
  const x =
    (2 * root3 * longitude * degree * Math.cos(angle)) /
    (3 * (9 * a4 * sixth * square + 7 * a3 * sixth + 3 * a2 * square + a1))
  const y = angle * (a4 * sixth * square + a3 * sixth + a2 * square + a1)
  return [x, y]
}

const [halfWidth] = equalEarth(180, 0)
const [, top] = equalEarth(0, 84)
const scale = mapSize.width / (2 * halfWidth)

/** Returns the place of a point in the map's view. Degrees; east and north are positive. */
export function project(longitude: number, latitude: number): [x: number, y: number] {
  const [x, y] = equalEarth(((longitude - middle + 540) % 360) - 180, latitude)
  return [x * scale + mapSize.width / 2, (top - y) * scale]
}
