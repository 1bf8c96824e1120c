/**
 * Where the blocks of a volume are, and what a request to them takes; pure code, without any I/O.
 *
 * <p>A {@link lunar.raid.layout.Shape} says what a volume is made of. Its {@link lunar.raid.layout.Layout} cuts it
 * into <i>stripes</i>: each has data <i>units</i>, numbered from 0, and then the redundant ones: copies, or the
 * parities P and Q. A unit is one chunk on one member; the layout says on which. A {@link lunar.raid.layout.Planner}
 * says for a request to a stripe which units are read, computed ({@link lunar.raid.layout.Parity}) and written while
 * some cannot be; its {@link lunar.raid.layout.Plan} knows units, not members.
 *
 * <p>Threading: all is immutable, but for {@link lunar.raid.layout.Parity}, which belongs to one thread at a time.
 */
@NullMarked
package lunar.raid.layout;

import org.jspecify.annotations.NullMarked;
