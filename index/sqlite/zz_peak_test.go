package sqlite_test
import ("testing";"os";"strings";"fmt";"github.com/chromafs/chromafs/index/sqlite")
func TestZZPeak(t *testing.T) {
	s := open(t, temp(t), sqlite.Options{})
	r := chunks("a", "", 4096)
	for i := range r { r[i].Document = strings.Repeat("x", 16000)+fmt.Sprint(i) }
	hwm := func() string { b,_ := os.ReadFile("/proc/self/status"); for _, l := range strings.Split(string(b),"\n") { if strings.HasPrefix(l,"VmHWM") {return l} }; return "" }
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	before := hwm()
	upsert(t, s, r)
	t.Log(before, hwm())
	for i := range r { r[i].Metadata.Title = "t" }
	upsert(t, s, r)
	t.Log(hwm())
	closeStore(t, s)
}
