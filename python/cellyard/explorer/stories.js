// Nine stories: two variants, three sentences, and one thing to try. Each is a link: #story=NAME.
import { variant } from './state.js';

const DROP = 'switch.0.ubr.drop';
const RECOVERY = 'vc.0.traffic.recovery';
const second = { duration: '1 s' };
const large = { duration: '2 s', 'switch.0.ubr.buffer': '3000 cells' };
const far = {
  duration: '2 s',
  'link.0.delay': '1 ms',
  'link.1.delay': '1 ms',
  'link.2.delay': '1 ms',
  'vc.0.traffic.rwnd': '600000 bytes',
};
const abr = { 'vc.0.class': 'abr', 'vc.0.abr': '{ icr = "10 Mbps" }', 'switch.0.abr': '{ feedback = "erica" }' };
const brief = { duration: '0.5 s', 'measure.warm_up': '0 s', 'switch.0.gfr.buffer': '10000 cells' };

export const STORIES = [
  {
    name: 'why-epd',
    title: 'Why early packet discard',
    sides: [variant('lan-5', { ...second, [DROP]: 'tail-drop' }), variant('lan-5', { ...second, [DROP]: 'epd' })],
    text: [
      'A switch that drops single cells goes on to carry the rest of frames that are already lost.',
      'Early packet discard (EPD, variant B) refuses whole frames as soon as the queue passes a threshold.',
      'Every cell that B sends belongs to a frame that arrives, so its efficiency is higher with the same buffer.',
    ],
    attempt: 'Make the buffer larger in both variants, and watch when EPD no longer helps.',
  },
  {
    name: 'synchronise',
    title: 'Vanilla TCPs synchronise',
    sides: [
      variant('lan-5', { duration: '2 s', [RECOVERY]: 'vanilla' }),
      variant('lan-5', { duration: '2 s', [RECOVERY]: 'sack' }),
    ],
    text: [
      'When the buffer overflows, all five TCPs lose cells at the same moment.',
      'Vanilla TCP (A) can only wait for its timer, so the link is idle until all of them begin again together.',
      'With selective acknowledgements (B) a sender repairs several losses of one window without the timer.',
    ],
    attempt: 'Choose reno in B: one loss is repaired, several losses of one window still end in a timeout.',
  },
  {
    name: 'fair-share',
    title: 'Who gets the buffer',
    sides: [variant('lan-5', { ...large, [DROP]: 'tail-drop' }), variant('lan-5', { ...large, [DROP]: 'selective-drop' })],
    text: [
      'Tail drop (A) refuses the cell that arrives at a full buffer, whoever sent it.',
      'Selective drop (B) refuses frames of VCs that hold more than their share of a long queue.',
      'The colours of the queue show who holds it, and in this run B has the fairer shares.',
    ],
    attempt: 'Change the seed under "Everything else": one run is one draw, and shares differ from run to run.',
  },
  {
    name: 'r-and-z',
    title: 'R and Z of selective drop',
    sides: [
      variant('lan-5', { ...large, [DROP]: 'selective-drop', [`${DROP}.r`]: '0.5', [`${DROP}.z`]: '0.8' }),
      variant('lan-5', { ...large, [DROP]: 'selective-drop', [`${DROP}.r`]: '0.9', [`${DROP}.z`]: '0.8' }),
    ],
    text: [
      'Selective drop acts when the queue X is above R and the VC holds more than Z times its fair share X / N_a (N_a VCs have cells waiting).',
      'With R at half of the buffer (A) it acts early, and the queue stays short.',
      'With R at 0.9 (B) more of the buffer is used before any frame is refused, and the mean queue is longer.',
    ],
    attempt: 'Move Z instead of R: small values refuse almost every VC once the queue is above R.',
  },
  {
    name: 'guaranteed-rate',
    title: 'Who pays for a guaranteed rate',
    sides: [
      variant('vbr-guaranteed-rate', { duration: '3 s', 'switch.0.scheduler.gr': '0' }),
      variant('vbr-guaranteed-rate', { duration: '3 s', 'switch.0.scheduler.gr': '0.1' }),
    ],
    text: [
      'A video stream of higher priority takes the whole link for 300 ms at a time.',
      'Without a guarantee (A) no TCP gets a cell through meanwhile, and their timers expire.',
      'A tenth of the link for the class UBR (B) keeps acknowledgements coming, at the cost of the video.',
    ],
    attempt: 'Find the smallest guaranteed rate that avoids timeouts.',
  },
  {
    name: 'abr-moves-the-queue',
    title: 'ABR moves the queue to the host',
    sides: [variant('lan-5', far), variant('lan-5', { ...far, ...abr })],
    text: [
      'Over UBR (A) TCPs fill the buffer of the switch until cells are lost.',
      'Over ABR (B) the switch tells each source a rate in resource management cells, and the source waits with its cells.',
      'After a burst at the beginning the queue of B is short and nothing is lost: the data wait in the hosts.',
    ],
    attempt: 'Lower the initial rate (icr) in B: the burst at the beginning becomes smaller.',
  },
  {
    name: 'gfr',
    title: 'Minimum rates beside a greedy UDP',
    sides: [variant('gfr-beside-udp', { ...brief, 'switch.0.gfr.drop': 'tail-drop' }), variant('gfr-beside-udp', brief)],
    text: [
      'Two TCPs and two UDP sources that never slow down share one queue.',
      'With tail drop (A) the UDP sources push the TCPs out, whatever rate these were promised.',
      'A guaranteed frame rate (B) counts the cells of each VC and refuses frames beyond its promise once the queue is long.',
    ],
    attempt: 'Choose dfba in B: it also knows the contracts, and shares what is left in another way.',
  },
  {
    name: 'red',
    title: 'RED keeps the queue short',
    sides: [variant('access-red', { duration: '10 s', [DROP]: 'tail-drop' }), variant('access-red', { duration: '10 s' })],
    text: [
      'Twenty servers send files through one link to slow lines.',
      'Tail drop (A) lets the queue stand near the end of its buffer, so that every cell waits long.',
      'Random early detection (B) refuses some frames while the average queue is between two thresholds, and waits less.',
    ],
    attempt: 'Raise max p in B, and compare the mean wait with the efficiency.',
  },
  {
    name: 'your-policy',
    title: 'A drop policy of your own',
    sides: [variant('program-epd', second), variant('program-selective-drop', second)],
    text: [
      'The drop policy of this switch is a text: the condition on which it refuses a frame.',
      'In A it refuses frames of every VC once fewer than 200 cells of the buffer K are free.',
      'In B it does so above R, and the condition also compares the cells of the VC, Y, with its share X / N, where N is the number of VCs with cells waiting.',
    ],
    attempt: 'Change the condition of B, for example to "X > R and Y > Z * 200". A mistake is marked with a caret.',
  },
];
