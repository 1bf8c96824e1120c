/**
 * The layout of a volume's blocks, and the plans of requests to them; pure code, without any I/O.
 *
 * <p>A {@link lunar.raid.layout.Shape} is the geometry of a volume. Its {@link lunar.raid.layout.Layout} cuts it into
 * <i>stripes</i>: each has data <i>units</i>, numbered from 0, and then the redundant ones: copies, or the parities P
 * and Q. A unit is one chunk on one member; the layout says on which. A {@link lunar.raid.layout.Planner} determines
 * for a request to a stripe which units are read, computed ({@link lunar.raid.layout.Parity}) and written while some
 * are unavailable; its {@link lunar.raid.layout.Plan} refers to units, not members.
 *
 * <p>Threading: all is immutable, but for {@link lunar.raid.layout.Parity}, which belongs to one thread at a time.
 */
@NullMarked
package lunar.raid.layout;

import org.jspecify.annotations.NullMarked;
