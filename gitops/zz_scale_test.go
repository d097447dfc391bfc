package gitops
import ("testing";"time";"fmt";"path/filepath";"os")
func TestZZScale(t *testing.T){
 f:=newFixture(t)
 for i:=range 50000 { p:=filepath.Join(f.dir,fmt.Sprintf("d%d/e%d/f%d.txt",i%100,i%7,i)); os.MkdirAll(filepath.Dir(p),0o755); os.WriteFile(p,[]byte(fmt.Sprint("content ",i,"\n")),0o644)}
 base:=f.commit("big")
 step:=func(n string, do func()){ s:=time.Now(); do(); t.Log(n,time.Since(s)) }
 var r *Repo; var w,m *Workspace; var c Commit
 step("open",func(){r=f.open()})
 for range 3 { step("version",func(){ r.git.line(t.Context(), call{args:[]string{"version"},dir:f.dir}) }) }
 step("clone",func(){w=f.clone(r,base)})
 step("worktree",func(){m=f.worktree(r,base)})
 put(t,filepath.Join(w.Path(),"d1/x"),"x")
 step("collect",func(){c,_=f.collect(r,w,base)})
 step("reset",func(){f.must(m.Reset(t.Context(),c.ID))})
 step("reset",func(){f.must(m.Reset(t.Context(),base))})
 step("overlay",func(){m.Overlay(t.Context(),c.ID,[]string{"d1/x"})})
 step("fingerprint",func(){r.Fingerprint(t.Context(),nil)})
 step("fingerprint",func(){r.Fingerprint(t.Context(),nil)})
 step("diff",func(){r.Diff(t.Context(),base,c.ID)})
 step("diff all",func(){r.Diff(t.Context(),f.git("rev-parse",base+"~1"),c.ID)})
 step("listtree",func(){r.ListTree(t.Context(),base)})
 step("remove",func(){w.Remove(t.Context())})
 step("close",func(){r.Close()})
}
