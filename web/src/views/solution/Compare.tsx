export default function Compare() {
  return <p class="empty">Compare</p>;
}
