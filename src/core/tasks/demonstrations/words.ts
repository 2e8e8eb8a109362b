import type { Chance } from '../random.ts';

/** How a name is written. */
export type NameShape = 'letter' | 'upper' | 'pascal' | 'camel' | 'kebab' | 'flat';

export function shapeOf(name: string): NameShape {
  if (name.length === 1) return 'letter';
  if (/^[A-Z][A-Z\d_]*$/.test(name)) return 'upper';
  return /^[A-Z]/.test(name) ? 'pascal' : 'camel';
}

/** A name of words, at times of syllables that are no word anywhere. */
export function newName(shape: NameShape, chance: Chance): string {
  if (shape === 'letter') return chance.pick(LETTERS);
  const count = chance.chance(0.55) ? 1 : 2;
  const words = Array.from({ length: count }, () => word(chance));
  const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
  switch (shape) {
    case 'upper':
      return words.map((each) => each.toUpperCase()).join('_');
    case 'pascal':
      return words.map(capital).join('');
    case 'kebab':
      return words.join('-');
    case 'flat':
      return words.join('');
    case 'camel':
      return words.map((each, at) => (at === 0 ? each : capital(each))).join('');
  }
}

function word(chance: Chance): string {
  if (!chance.chance(0.1)) return chance.pick(WORDS);
  const syllables = Array.from({ length: chance.int(1, 3) }, () => chance.pick(SYLLABLES));
  const made = syllables.join('');
  // Short ones are keywords now and then.
  return made.length < 3 || KEYWORDS.test(made) ? `${made}${chance.pick(SYLLABLES)}x` : made;
}

const KEYWORDS =
  /^(?:do|if|in|for|let|new|try|var|case|else|enum|this|void|with|of|as|is|get|set|not|and|null|true)$/;

function list(text: string): readonly [string, ...string[]] {
  const [first = '', ...rest] = text.trim().split(/\s+/);
  return [first, ...rest];
}

const LETTERS = list('a b c d e f g h i j k l m n o p q r s t u v w x y z');

const SYLLABLES = list(
  `ba be bi bo da den dor el fa fen gal gor hil hu in jo ka kel lo lum ma mer mi na nor o pa pel
   qua ra rin ro sa sel sta ta ter to tri u va vel wi xa yor za zen`,
);

const WORDS = list(
  `account acre action add address adjust age alarm amount anchor angle answer apple apply area
 array arrow asset author badge bag balance band bank bar base basket batch beam bell belt bend
 bill bin bird blend block board boat body bonus book boot border bottle bound bowl box branch
 bread bridge brush bucket budget buffer build bulb bundle burst button cabin cable cage camp
 candle cap card cargo cart carve cast cell chain chair change channel chart check chest child
 choose chord circle city clamp clean clear climb clock close cloud coach coast code coin
 collect color column combine compare cook copy corner count course cover craft crate create
 credit crop cross crowd cup curve cut cycle dark dash date day deal debit deck decode deep delta
 depth desk detail dial digit dish dock door dose double draft drain draw drift drive drop drum
 duty each eager early earn earth east echo edge edit effort element empty encode end engine
 enter entry equip erase event exact exit expand extra face fact fade fan farm fast feed fence
 fetch field figure file fill filter find finish fire first fix flag flat fleet flip float floor
 flow fold follow font foot force fork form frame fresh front fruit fuel full gain game gap
 garden gate gather gear gift glass globe goal gold grade grain grand graph grid grip group grow
 guard guess guide habit half hall hand handle harbor harvest head heap heat height hold hole
 home hook horse host hotel hour house human idea image inner input insert island item join
 joint jump keep kept key kind kit knot label ladder lake lamp land lane last later layer lead
 leaf lean left length lens letter level lever lift light limit line link list load local lock
 log loop loss low lower lunch make map march mark market mask match matter meal measure medal
 merge metal meter middle mile milk mill mind minute mirror mix model month moon mount mouse move
 narrow nest net next night node noise north note number oak object ocean offer offset oil old
 open option orbit order origin other outer output oven owner pace pack page pair panel paper
 parcel park part pass patch path pause payment peak pen people period phase phone phrase pick
 piece pile pilot pin pipe pitch pixel place plan plane plant plate play plot plus point pole
 pool port post pound power press price print prize probe profit proof pull pulse pump push queue
 quick quiet quota rack radio rail rain raise range rank rate ratio raw reach read ready record
 reduce region relay rent repeat reply rest result reverse ride right ring rise river road
 rock role roll roof room root rope rotate round route row rule sail salt sample sand save scale
 scan scene school score screen seal search season seat second seed segment select sell sense
 series server shade shape share sheet shelf shell shift ship shop shore short show side sign
 silver simple size skip sky slice slide slot slow small smooth snow soft song sort sound source
 south space span spare speed spend spin split spot spread spring square stack staff stage stamp
 stand star start state station stay steel steam step stock stone stop store storm stream street
 stretch strip strong study style sugar sum summer sun supply surface swap sweep symbol
 table tail take talk tank target task taste team term text thick thin tick ticket tide tight
 tile time tip title toggle token tone tool top total touch tower town trace track trade trail
 train tree trend trial trim trip truck trunk trust tube tune turn twist type under unit upper
 usage usual valley valve vector verify view village visit voice volume vote wage wait walk wall
 watch water wave wax way weather week weigh weight west wheel white whole wide width wild win
 wind window wing winter wire wise wood word work world wrap write yard year young zone`,
);
